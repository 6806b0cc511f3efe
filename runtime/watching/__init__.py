"""Is everything where it should be, and does it still live?"""
