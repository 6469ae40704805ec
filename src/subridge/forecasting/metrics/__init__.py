"""What is forecast: the prediction error, and for classes the misclassification; one file each."""
