"""What is written into a script: the pages, with their examples."""
