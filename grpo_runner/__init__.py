"""`grpo-run`: GRPO through TRL's own trainer, with the rewards of this package and the signal watched.

`config` and `cli` load in a fraction of a second; torch and TRL are imported by `train` alone, after the
configuration, the reward and the data set have been found sound.
"""
