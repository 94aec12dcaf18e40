"""What is fed, or read, and cannot be shared among the towers."""
