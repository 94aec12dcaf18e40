"""What goes into the towers: shards of the inputs, sizes of one shard, starting values."""
