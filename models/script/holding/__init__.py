"""What is known while a script is followed: values of variables, and where they were taken from."""
