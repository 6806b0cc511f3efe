"""In which order the resources of a bundle become ranks."""
