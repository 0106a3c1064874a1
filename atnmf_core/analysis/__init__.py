"""What a fit means: parts, materials, recovery, pictures."""
