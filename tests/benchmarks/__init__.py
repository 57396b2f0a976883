"""Speed, told as ratios against what hardware or a peer does in the same run; never asserted."""
