// The flags that db_bench honours, one row each: FLAG(group, type, name, default, meaning).
//
// The user of the table defines FLAG. flags.h makes the members of Flags with it, and flags.cc the
// parser and --help. Names, defaults and meanings are those of RocksDB's db_bench. Flags that it
// does not have are marked with [own]. Rejected: a struct and a separate table, because every flag
// would be in two places.
#pragma once

#define ASHLAR_BENCH_FLAGS(FLAG)                                                                   \
  FLAG("What to run", std::string, benchmarks, "fillseq,fillrandom,overwrite,readrandom,readseq",  \
       "Workloads, with commas between; name[X3] runs one three times, name[W1-X3] once before "   \
       "that to warm up")                                                                          \
  FLAG("What to run", std::string, db, "",                                                         \
       "The database's directory; empty: ashlar_db_bench in the directory for temporary files")    \
  FLAG("What to run", bool, use_existing_db, false,                                                \
       "Keep the database that is there; off, it is DESTROYED at the start and by every fill")     \
  FLAG("What to run", bool, use_existing_keys, false,                                              \
       "Read the keys of the existing database at the start and draw from them; sets num to "      \
       "their number")                                                                             \
  FLAG("What to run", bool, readonly, false, "Open the existing database read-only")               \
  FLAG("What to run", std::string, engine, "lsm",                                                  \
       "lsm, or pmem: a PersistentTree, whose pool file --db names [own]")                         \
  FLAG("What to run", int64_t, num, 1000000,                                                       \
       "Number of keys; also operations of each thread, unless told otherwise")                    \
  FLAG("What to run", int64_t, reads, -1, "Reads of each thread; -1: num")                         \
  FLAG("What to run", int64_t, writes, -1, "Writes of each thread; -1: num")                       \
  FLAG("What to run", int64_t, deletes, -1, "Deletions of each thread; -1: num")                   \
  FLAG("What to run", int, threads, 1, "Threads that run a workload at once")                      \
  FLAG("What to run", int, duration, 0,                                                            \
       "Seconds that a random workload runs, in place of a number of operations; 0: by number")    \
  FLAG("What to run", int64_t, ops_between_duration_checks, 1000,                                  \
       "Operations of a thread between two looks at the clock, when duration is set")              \
  FLAG("What to run", int64_t, batch_size, 1, "Keys of one write batch or MultiGet")               \
  FLAG("What to run", int64_t, writes_per_range_tombstone, 0,                                      \
       "Fills delete a range after every so many writes of a thread; 0: never")                    \
  FLAG("What to run", int64_t, writes_before_delete_range, 0,                                      \
       "Writes of a thread before the first of them")                                              \
  FLAG("What to run", int64_t, range_tombstone_width, 100, "Keys of each of them")                 \
  FLAG("What to run", int64_t, max_num_range_tombstones, 0, "Ranges of a thread at most")          \
  FLAG("What to run", bool, expand_range_tombstones, false,                                        \
       "Delete the keys of a range one by one")                                                    \
  FLAG("What to run", int64_t, seed, 0, "Seed of all random numbers; 0: from the clock")           \
  FLAG("What to run", int64_t, benchmark_write_rate_limit, 0,                                      \
       "Bytes per second that a workload writes; 0: no limit")                                     \
  FLAG("What to run", int64_t, benchmark_read_rate_limit, 0, "Reads per second; 0: no limit")      \
                                                                                                   \
  FLAG("Keys and values", int, key_size, 16, "Bytes of a key")                                     \
  FLAG("Keys and values", int, value_size, 100, "Bytes of a value")                                \
  FLAG("Keys and values", std::string, value_size_distribution_type, "fixed",                      \
       "Sizes of values: fixed, uniform, normal; the last two between value_size_min and "         \
       "value_size_max")                                                                           \
  FLAG("Keys and values", int, value_size_min, 100, "Bytes of the smallest value")                 \
  FLAG("Keys and values", int, value_size_max, 102400, "Bytes of the largest value")               \
  FLAG("Keys and values", double, compression_ratio, 0.5,                                          \
       "Values compress to about this part of their size")                                         \
  FLAG("Keys and values", int, prefix_size, 0,                                                     \
       "Bytes of a key that are its prefix, also for the prefix extractor; 0: none")               \
  FLAG("Keys and values", int64_t, keys_per_prefix, 0,                                             \
       "Keys that share a prefix; 0: the key is its number, most significant byte first")          \
  FLAG("Keys and values", std::string, key_distribution, "uniform",                                \
       "How workloads over random keys draw them, except fills: uniform, zipf [own]")              \
  FLAG("Keys and values", double, zipf_exponent, 0.99,                                             \
       "The exponent of zipf: the k-th most frequent key is drawn in proportion to k^-exponent "   \
       "[own]")                                                                                    \
  FLAG("Keys and values", double, read_random_exp_range, 0,                                        \
       "Reads draw keys exponentially: the most frequent one exp(range) times as often as the "    \
       "rarest; 0: off")                                                                           \
  FLAG("Keys and values", int64_t, merge_keys, -1,                                                 \
       "Number of keys that mergerandom works on; -1: num")                                        \
  FLAG("Keys and values", int, num_column_families, 1,                                             \
       "Column families that the keys are spread over")                                            \
                                                                                                   \
  FLAG("Reads", bool, verify_checksum, true, "Check the checksum of every block read from a file") \
  FLAG("Reads", bool, pin_slice, true, "Get into a PinnableSlice; off: a copy of every value")     \
  FLAG("Reads", bool, multiread_batched, false,                                                    \
       "multireadrandom gets PinnableSlices; off: a vector of copies")                             \
  FLAG("Reads", int64_t, multiread_stride, 0,                                                      \
       "Distance of the keys of one MultiGet; 0: each key is drawn")                               \
  FLAG("Reads", int, seek_nexts, 0, "Entries read after a seek")                                   \
  FLAG("Reads", bool, reverse_iterator, false, "Read them backwards")                              \
  FLAG("Reads", int64_t, max_scan_distance, 0,                                                     \
       "Bound iterators to this many key numbers from the seek; 0: no bound")                      \
  FLAG("Reads", bool, seek_missing_prefix, false,                                                  \
       "Seek prefixes that do not exist; needs a prefix_size above 8")                             \
  FLAG("Reads", bool, use_tailing_iterator, false,                                                 \
       "seekrandom keeps one iterator that follows the writes")                                    \
  FLAG("Reads", bool, total_order_seek, false, "Iterators see all prefixes")                       \
  FLAG("Reads", bool, prefix_same_as_start, false, "Iterators end with the prefix of the seek")    \
  FLAG("Reads", bool, auto_prefix_mode, false,                                                     \
       "Iterators use prefixes where that changes nothing")                                        \
  FLAG("Reads", int64_t, readahead_size, 0, "Bytes that an iterator reads ahead from the start")   \
  FLAG("Reads", bool, adaptive_readahead, false,                                                   \
       "Carry the size of the read-ahead from file to file")                                       \
  FLAG("Reads", bool, async_io, false, "Read ahead in the background")                             \
  FLAG("Reads", int, readwritepercent, 90,                                                         \
       "Reads in a hundred operations of readrandomwriterandom and amplification")                 \
                                                                                                   \
  FLAG("Writes", bool, sync, false, "Every write is durable before it returns")                    \
  FLAG("Writes", bool, disable_wal, false, "No log")                                               \
  FLAG("Writes", int, overwrite_percent, 100,                                                      \
       "Overwrites in a hundred writes of amplification; the others write new keys")               \
  FLAG("Writes", std::string, merge_operator, "",                                                  \
       "Merge operator: uint64add, stringappend, put, max")                                        \
                                                                                                   \
  FLAG("Memtables", int64_t, write_buffer_size, 67108864, "Bytes of a memtable")                   \
  FLAG("Memtables", int64_t, db_write_buffer_size, 0, "Bytes of all memtables; 0: no limit")       \
  FLAG("Memtables", int, max_write_buffer_number, 2, "Memtables in memory at most")                \
  FLAG("Memtables", int, min_write_buffer_number_to_merge, 1,                                      \
       "Full memtables that are flushed together at least")                                        \
  FLAG("Memtables", int64_t, max_write_buffer_size_to_maintain, 0,                                 \
       "Bytes of flushed memtables to keep")                                                       \
  FLAG("Memtables", std::string, memtablerep, "skip_list",                                         \
       "Structure of a memtable: skip_list, prefix_hash, hash_linkedlist, vector")                 \
  FLAG("Memtables", int64_t, hash_bucket_count, 1048576, "Buckets of the hashed ones")             \
  FLAG("Memtables", int64_t, arena_block_size, 0, "Bytes of a memtable's allocations")             \
  FLAG("Memtables", double, memtable_bloom_size_ratio, 0,                                          \
       "Part of the memtable's size that its bloom filter has; 0: no filter")                      \
  FLAG("Memtables", bool, memtable_whole_key_filtering, false,                                     \
       "That filter also holds whole keys")                                                        \
  FLAG("Memtables", bool, memtable_use_huge_page, false, "Ask for huge pages")                     \
  FLAG("Memtables", int, bloom_locality, 0,                                                        \
       "Bloom filters of memtables and plain tables probe within a cache line")                    \
  FLAG("Memtables", bool, inplace_update_support, false, "Overwrite values in the memtable")       \
  FLAG("Memtables", int, max_successive_merges, 0,                                                 \
       "Operands of a key in the memtable before they are merged")                                 \
                                                                                                   \
  FLAG("Levels and compaction", int, num_levels, 7, "Levels")                                      \
  FLAG("Levels and compaction", int, level0_file_num_compaction_trigger, 4,                        \
       "Files of level 0 that start a compaction")                                                 \
  FLAG("Levels and compaction", int, level0_slowdown_writes_trigger, 20,                           \
       "Files of level 0 that slow writers down")                                                  \
  FLAG("Levels and compaction", int, level0_stop_writes_trigger, 36,                               \
       "Files of level 0 that stop writers")                                                       \
  FLAG("Levels and compaction", int64_t, target_file_size_base, 67108864,                          \
       "Bytes of a table of level 1")                                                              \
  FLAG("Levels and compaction", int, target_file_size_multiplier, 1, "Factor from level to level") \
  FLAG("Levels and compaction", uint64_t, max_bytes_for_level_base, 268435456, "Bytes of level 1") \
  FLAG("Levels and compaction", double, max_bytes_for_level_multiplier, 10,                        \
       "Factor from level to level")                                                               \
  FLAG("Levels and compaction", std::string, max_bytes_for_level_multiplier_additional, "",        \
       "Further factors, one for each level, with commas between")                                 \
  FLAG("Levels and compaction", bool, level_compaction_dynamic_level_bytes, false,                 \
       "Sizes of levels follow the last one")                                                      \
  FLAG("Levels and compaction", uint64_t, max_compaction_bytes, 0,                                 \
       "Bytes of one compaction at most; 0: 25 target files")                                      \
  FLAG("Levels and compaction", uint64_t, soft_pending_compaction_bytes_limit, 68719476736,        \
       "Bytes to compact that slow writers down")                                                  \
  FLAG("Levels and compaction", uint64_t, hard_pending_compaction_bytes_limit, 137438953472,       \
       "Bytes to compact that stop writers")                                                       \
  FLAG("Levels and compaction", bool, disable_auto_compactions, false, "Compact only when asked")  \
  FLAG("Levels and compaction", int, compaction_style, 0,                                          \
       "0 leveled, 1 universal, 2 FIFO, 3 none")                                                   \
  FLAG("Levels and compaction", int, compaction_pri, 3,                                            \
       "Which file of a level goes first, as RocksDB's CompactionPri counts")                      \
  FLAG("Levels and compaction", uint64_t, periodic_compaction_seconds, 0,                          \
       "Age that makes a file be compacted")                                                       \
  FLAG("Levels and compaction", uint64_t, ttl_seconds, 18446744073709551614u,                      \
       "Age of data that makes a file be compacted")                                               \
  FLAG("Levels and compaction", int, universal_size_ratio, 0,                                      \
       "Percent that an older run may be larger; 0: the default, as in the next three")            \
  FLAG("Levels and compaction", int, universal_min_merge_width, 0,                                 \
       "Runs merged at once, at least")                                                            \
  FLAG("Levels and compaction", int, universal_max_merge_width, 0, "The same, at most")            \
  FLAG("Levels and compaction", int, universal_max_size_amplification_percent, 0,                  \
       "Bytes above the oldest run that merge all")                                                \
  FLAG("Levels and compaction", int, universal_compression_size_percent, -1,                       \
       "Percent of the data that is compressed; -1: all")                                          \
  FLAG("Levels and compaction", bool, universal_allow_trivial_move, false,                         \
       "Tables that do not overlap move")                                                          \
  FLAG("Levels and compaction", bool, universal_incremental, false,                                \
       "Large runs are merged in parts")                                                           \
  FLAG("Levels and compaction", int, universal_stop_style, 1,                                      \
       "0: runs of similar size, 1: of the total size")                                            \
  FLAG("Levels and compaction", int, universal_max_read_amp, -1,                                   \
       "Runs at most; -1: level0_file_num_compaction_trigger, 0: by their sizes")                  \
  FLAG("Levels and compaction", uint64_t, fifo_compaction_max_table_files_size_mb, 0,              \
       "MiB of tables; above, the oldest are deleted")                                             \
  FLAG("Levels and compaction", uint64_t, fifo_compaction_max_data_files_size_mb, 0,               \
       "Replaces the flag before if it is above 0")                                                \
  FLAG("Levels and compaction", bool, fifo_compaction_allow_compaction, true,                      \
       "Small tables are merged")                                                                  \
  FLAG("Levels and compaction", uint64_t, fifo_compaction_ttl, 0,                                  \
       "Seconds; with FIFO, in place of ttl_seconds")                                              \
  FLAG("Levels and compaction", bool, optimize_filters_for_hits, false,                            \
       "No filters in the last level")                                                             \
  FLAG("Levels and compaction", bool, report_bg_io_stats, false, "Measure the I/O of compactions") \
                                                                                                   \
  FLAG("Tables", int, block_size, 4096,                                                            \
       "Bytes of a data block before compression; also of an operation of crc32c and xxh3")        \
  FLAG("Tables", int, block_restart_interval, 16, "Entries between two keys stored whole")         \
  FLAG("Tables", int, index_block_restart_interval, 1, "The same in the index")                    \
  FLAG("Tables", double, bloom_bits, -1, "Bits per key of the bloom filter; 0 or less: no filter") \
  FLAG("Tables", bool, whole_key_filtering, true, "The filter holds whole keys")                   \
  FLAG("Tables", bool, optimize_filters_for_memory, true,                                          \
       "Filters of sizes that the allocator likes")                                                \
  FLAG("Tables", int64_t, cache_size, 33554432,                                                    \
       "Bytes of the block cache; 0: none, negative: the database's own")                          \
  FLAG("Tables", std::string, cache_type, "hyper_clock_cache",                                     \
       "lru_cache, hyper_clock_cache, auto_hyper_clock_cache: all make the one cache there is")    \
  FLAG("Tables", int, cache_numshardbits, -1, "Its shards, as a power of two; -1: by itself")      \
  FLAG("Tables", double, cache_high_pri_pool_ratio, 0, "Part of it for index and filter blocks")   \
  FLAG("Tables", double, cache_low_pri_pool_ratio, 0,                                              \
       "Part of it for blocks that nothing asked for twice")                                       \
  FLAG("Tables", bool, cache_index_and_filter_blocks, false,                                       \
       "Index and filter blocks count against the cache")                                          \
  FLAG("Tables", bool, pin_l0_filter_and_index_blocks_in_cache, false,                             \
       "Those of level 0 stay there")                                                              \
  FLAG("Tables", bool, pin_top_level_index_and_filter, false,                                      \
       "The top of partitioned ones stays there")                                                  \
  FLAG("Tables", bool, use_data_block_hash_index, false, "A hash index in data blocks")            \
  FLAG("Tables", double, data_block_hash_table_util_ratio, 0.75, "How full it is")                 \
  FLAG("Tables", bool, partition_index, false, "The index is in partitions")                       \
  FLAG("Tables", bool, partition_index_and_filters, false, "Index and filter are in partitions")   \
  FLAG("Tables", uint64_t, metadata_block_size, 4096, "Bytes of a partition")                      \
  FLAG("Tables", bool, index_with_first_key, false, "The index has the first key of each block")   \
  FLAG("Tables", bool, use_ribbon_filter, false, "Ribbon filters in place of Bloom filters")       \
  FLAG("Tables", int, checksum_type, 4, "0 none, 1 CRC32c, 2 xxHash, 3 xxHash64, 4 XXH3")          \
  FLAG("Tables", bool, file_checksum, false, "A CRC32c of each whole table")                       \
  FLAG("Tables", int, format_version, 5, "Layout of the table")                                    \
  FLAG("Tables", bool, enable_index_compression, true, "Compress the index")                       \
  FLAG("Tables", bool, block_align, false, "Align data blocks")                                    \
  FLAG("Tables", int, read_amp_bytes_per_bit, 0,                                                   \
       "Measure read amplification in units of so many bytes")                                     \
  FLAG("Tables", uint64_t, initial_auto_readahead_size, 8192,                                      \
       "First read-ahead of a scan, in bytes")                                                     \
  FLAG("Tables", uint64_t, max_auto_readahead_size, 262144,                                        \
       "Largest read-ahead of a scan, in bytes")                                                   \
  FLAG("Tables", uint64_t, num_file_reads_for_auto_readahead, 2,                                   \
       "Reads in sequence that make a scan")                                                       \
  FLAG("Tables", std::string, compression_type, "snappy", "none, snappy, zlib, lz4, lz4hc, zstd")  \
  FLAG("Tables", int, compression_level, 32767, "Level of the codec; 32767: its own default")      \
  FLAG("Tables", int, min_level_to_compress, -1, "First level that is compressed; -1: all are")    \
  FLAG("Tables", int, compression_parallel_threads, 1, "Threads that compress one table")          \
  FLAG("Tables", int, compression_max_dict_bytes, 0, "Bytes of a dictionary; 0: none")             \
  FLAG("Tables", int, compression_zstd_max_train_bytes, 0,                                         \
       "Bytes of samples that ZSTD makes the dictionary from; 0: the samples are it")              \
  FLAG("Tables", uint64_t, compression_max_dict_buffer_bytes, 0,                                   \
       "Bytes of blocks that wait for the dictionary; 0: of a file")                               \
  FLAG("Tables", bool, compression_use_zstd_dict_trainer, true,                                    \
       "ZSTD trains; false: it only adds its tables to the samples")                               \
  FLAG("Tables", int64_t, sample_for_compression, 0,                                               \
       "Blocks of which one is compressed to measure")                                             \
  FLAG("Tables", bool, use_plain_table, false,                                                     \
       "Plain tables, for memory; needs prefix_size and mmap_read")                                \
                                                                                                   \
  FLAG("Files", bool, mmap_read, false, "Read tables through a mapping")                           \
  FLAG("Files", bool, mmap_write, false, "Write them through a mapping")                           \
  FLAG("Files", bool, use_direct_reads, false, "Tables bypass the page cache when they are read")  \
  FLAG("Files", bool, use_direct_io_for_flush_and_compaction, false, "Also when they are written") \
  FLAG("Files", int, open_files, -1, "Tables kept open; -1: all")                                  \
  FLAG("Files", int, file_opening_threads, 16, "Threads that open tables at the start")            \
  FLAG("Files", int, table_cache_numshardbits, 4,                                                  \
       "Shards of the table of open files, as a power of two")                                     \
  FLAG("Files", uint64_t, compaction_readahead_size, 2097152, "Bytes that compactions read ahead") \
  FLAG("Files", int, writable_file_max_buffer_size, 1048576, "Bytes of a file's write buffer")     \
  FLAG("Files", uint64_t, bytes_per_sync, 0, "Start write-back of tables every so many bytes")     \
  FLAG("Files", uint64_t, wal_bytes_per_sync, 0,                                                   \
       "Start write-back of the log every so many bytes")                                          \
  FLAG("Files", uint64_t, rate_limiter_bytes_per_sec, 0,                                           \
       "Bytes per second that flushes and compactions write; 0: no limit")                         \
  FLAG("Files", int64_t, rate_limiter_refill_period_us, 100000,                                    \
       "How often that budget is filled, in microseconds")                                         \
  FLAG("Files", bool, rate_limiter_auto_tuned, false,                                              \
       "Move that rate by the demand, up to the one given")                                        \
  FLAG("Files", bool, rate_limit_bg_reads, false,                                                  \
       "Limit what compactions read, in place of what is written")                                 \
  FLAG("Files", int64_t, rate_limiter_single_burst_bytes, 0,                                       \
       "Bytes that are granted at once; 0: those of one refill")                                   \
  FLAG("Files", uint64_t, delete_obsolete_files_period_micros, 0,                                  \
       "How often to look for obsolete files")                                                     \
  FLAG("Files", bool, advise_random_on_open, true,                                                 \
       "Tell the system that tables are read at random")                                           \
  FLAG("Files", bool, use_fsync, false, "fsync in place of fdatasync")                             \
  FLAG("Files", std::string, wal_dir, "", "Directory of the log; empty: the database's")           \
  FLAG("Files", std::string, wal_compression, "none", "Codec of the log: none, zstd")              \
  FLAG("Files", uint64_t, max_total_wal_size, 0,                                                   \
       "Bytes of logs that make old column families flush")                                        \
  FLAG("Files", bool, manual_wal_flush, false,                                                     \
       "The log stays in memory until it is flushed by hand")                                      \
                                                                                                   \
  FLAG("Background and writers", int, max_background_jobs, 2, "Threads that flush and compact")    \
  FLAG("Background and writers", int, max_background_compactions, -1,                              \
       "Threads that compact; -1: from max_background_jobs")                                       \
  FLAG("Background and writers", int, max_background_flushes, -1,                                  \
       "Threads that flush; -1: from max_background_jobs")                                         \
  FLAG("Background and writers", uint64_t, subcompactions, 1, "Threads that share one compaction") \
  FLAG("Background and writers", uint64_t, delayed_write_rate, 8388608,                            \
       "Bytes per second that slowed writers share")                                               \
  FLAG("Background and writers", bool, enable_pipelined_write, true,                               \
       "Log and memtable are written by different threads")                                        \
  FLAG("Background and writers", bool, allow_concurrent_memtable_write, true,                      \
       "Threads write to the memtable at once")                                                    \
  FLAG("Background and writers", bool, unordered_write, false,                                     \
       "Writes become visible in any order")                                                       \
  FLAG("Background and writers", bool, avoid_flush_during_recovery, false,                         \
       "Keep memtables in memory at open")                                                         \
  FLAG("Background and writers", bool, avoid_flush_during_shutdown, false,                         \
       "Do not flush at close what the log does not hold")                                         \
  FLAG("Background and writers", uint64_t, stats_dump_period_sec, 600,                             \
       "How often the database writes its statistics into its log")                                \
  FLAG("Background and writers", std::string, options_file, "",                                    \
       "Take the options from this OPTIONS file, without its folders; of the flags above only "    \
       "wal_dir and those of cache and statistics are used then")                                  \
                                                                                                   \
  FLAG("Persistent tree", double, db_size_in_gb, 0,                                                \
       "Size of the pool in GiB; 0: enough for num entries in any order [own]")                    \
  FLAG("Persistent tree", int, tx_size, 10,                                                        \
       "Entries of one batch of txfillrandom, with either engine [own]")                           \
  FLAG("Persistent tree", std::string, durability, "",                                             \
       "cpu-flush, process-crash-only or logged; empty: the best that the file offers [own]")      \
  FLAG("Persistent tree", bool, caches_are_durable, false,                                         \
       "With cpu-flush in shared memory: fences, but no flushes [own]")                            \
                                                                                                   \
  FLAG("What is shown", bool, histogram, false,                                                    \
       "The distribution of latencies; reads the clock at every operation")                        \
  FLAG("What is shown", bool, statistics, false, "The database's statistics at the end")           \
  FLAG("What is shown", int, stats_level, 3, "How much they count, as RocksDB's StatsLevel")       \
  FLAG("What is shown", int64_t, stats_interval, 0,                                                \
       "A line for every thread every so many operations; 0: none")                                \
  FLAG("What is shown", int64_t, stats_interval_seconds, 0,                                        \
       "The same, but at least so many seconds apart")                                             \
  FLAG("What is shown", int, stats_per_interval, 0,                                                \
       "With that line, the database's rocksdb.stats")                                             \
  FLAG("What is shown", int64_t, report_interval_seconds, 0,                                       \
       "Operations per second every so many seconds into report_file; 0: no")                      \
  FLAG("What is shown", std::string, report_file, "report.csv", "That file")                       \
  FLAG("What is shown", int, perf_level, 1,                                                        \
       "Above 1, the PerfContext of a thread after each workload, as RocksDB's PerfLevel")         \
  FLAG("What is shown", bool, confidence_interval_only, false,                                     \
       "Of repeated workloads, the confidence interval only")                                      \
  FLAG("What is shown", bool, progress_reports, true,                                              \
       "A progress line, when standard error is a terminal")                                       \
  FLAG("What is shown", std::string, json, "",                                                     \
       "Write machine, flags and results into this file [own]")                                    \
  FLAG("What is shown", bool, any_build, false,                                                    \
       "Run in a debug or sanitizer build too, whose figures say nothing [own]")
