"""What is refused or warned of: the pages, with their examples."""
