"""What a collection says, its authors protected: counted, drawn once, and written as a folder like every release."""
