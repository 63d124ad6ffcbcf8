"""The part of scikit-learn that sido uses, typed."""
