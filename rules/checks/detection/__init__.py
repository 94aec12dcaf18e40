"""Configurations of the Object Detection API that its trainer cannot use on several GPUs."""
