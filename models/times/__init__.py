"""What is known of the times of a job: of its components as they usually work, and with the degrees that were chosen for them."""
