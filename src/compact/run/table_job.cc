#include "compact/run/table_job.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "ashlar/listener.h"
#include "ashlar/table_properties.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "filesystem/filename.h"

namespace ashlar {

namespace {

Status VerifyFile(const TableJobArgs& args, FileMetaData* file) {
  ASHLAR_ASSIGN_OR_RETURN(const TableRef table, args.tables->Acquire(file, {}));
  const uint64_t entries = table->properties().num_entries;
  if (entries != file->entries) {
    return Status::Corruption(
        TableFileName(args.output.directory, file->number),
        StrCat("written with ", file->entries.load(), " entries, read back with ", entries));
  }
  return args.verification == OutputVerification::kBlocks ? args.tables->Verify(file)
                                                          : Status::OK();
}

Status VerifyFiles(const TableJobArgs& args, const TableJobResult& result) {
  if (args.verification == OutputVerification::kNone) return Status::OK();
  for (const auto& file : result.files) ASHLAR_RETURN_IF_ERROR(VerifyFile(args, file.get()));
  return Status::OK();
}

}  // namespace

void TableJobStatistics::CountFiles(const std::vector<std::unique_ptr<FileMetaData>>& files) {
  output_files = files.size();
  if (files.empty()) return;
  const auto prefix = [](const Slice& key) {
    return std::string(key.data(), std::min(key.size(), CompactionJobStats::kMaxPrefixLength));
  };
  smallest_key_prefix = prefix(files.front()->smallest_user_key());
  largest_key_prefix = prefix(files.back()->largest_user_key());
}

void TableJobResult::AddFilesTo(Level level, VersionEdit* edit) {
  edit->ReserveNewFiles(files.size());
  for (auto& file : files) edit->AddFile(level, std::move(file));
  files.clear();
}

void TableJobResult::Clear() {
  if (tables != nullptr) {
    for (const auto& file : files) tables->Evict(file.get());
  }
  files.clear();
  statistics = TableJobStatistics();
}

Status RunTableLoop(const TableJobArgs& args, const TableRun& run, InternalCursor* input,
                    TableJobResult* result) {
  std::optional<EntryFilter> filter;
  ASHLAR_RETURN_IF_ERROR(EntryFilter::Make(args.filter, &filter));
  CompactionIterator stream({.input = input,
                             .comparator = args.output.table.comparator,
                             .snapshots = args.snapshots,
                             .merge_operator = args.merge_operator,
                             .not_below = run.not_below,
                             .ranges = run.ranges,
                             .filter = filter ? &*filter : nullptr,
                             .zero_sequences = run.zero_sequences,
                             .stop = args.stop,
                             .turn = run.turn,
                             .recorder = args.output.table.recorder,
                             .logger = args.output.table.logger,
                             .begin = run.begin,
                             .end = run.end});
  CompactionOutput output(args.output);
  if (run.ranges != nullptr) output.WriteRanges(&run.ranges->kept());
  for (stream.Start(); stream.Valid(); stream.Next()) {
    ASHLAR_RETURN_IF_ERROR(output.Add(stream.key(), stream.value(), stream.first_of_user_key()));
    if (stream.is_for_snapshots()) [[unlikely]] {
      output.CountSnapshotVersion();
    }
  }
  ASHLAR_RETURN_IF_ERROR(stream.status());
  ASHLAR_RETURN_IF_ERROR(output.Finish());
  ASHLAR_ASSERT(stream.counts().entries_out <= stream.counts().entries_in);  // none is added
  result->statistics.entries.Add(stream.counts());
  result->statistics.bytes_written += output.bytes_written();
  result->statistics.file_times.Add(output.file_times());
  result->files.reserve(result->files.size() + output.files());
  std::vector<std::unique_ptr<FileMetaData>> files = output.TakeFiles();
  std::move(files.begin(), files.end(), std::back_inserter(result->files));
  return Status::OK();
}

Status FinishTableJob(const TableJobArgs& args, TableJobResult* result) {
  for (size_t i = 1; i < result->files.size(); ++i) {
    // I1 of compaction_output.h, across the parts of a job too.
    ASHLAR_ASSERT(result->files[i - 1]->EndsBefore(args.output.table.comparator,
                                                   result->files[i]->smallest_user_key()));
  }
  result->tables = args.tables;
  Status status = CatchBadAlloc([&] { return VerifyFiles(args, *result); });
  if (!status.ok()) {
    DiscardTableJob(args, result);
    return status;
  }
  result->statistics.CountFiles(result->files);
  return status;
}

void DiscardTableJob(const TableJobArgs& args, TableJobResult* result) {
  ASHLAR_ASSERT(args.tables != nullptr);  // where the files may be open
  for (const auto& file : result->files) {
    args.tables->Evict(file.get());
    IgnoreBadAlloc([&] {
      static_cast<void>(
          args.output.file_system->DeleteFile(TableFileName(args.output.directory, file->number))
              .ok());
    });
  }
  result->Clear();
}

}  // namespace ashlar
