#include <CLI/CLI.hpp>
#include <memory>

#include "tools/qperf/command.h"
#include "tools/qperf/trace_options.h"

namespace qperf::tools {
namespace {

/// One job of `qperf trace`: what it is called, what it says of itself, which options it has beside the common ones.
struct Job {
  const char* name;
  const char* summary;
  const char* examples;
  void (*add_options)(CLI::App& job, TraceOptions& options);  // beside those of add_common, where the job reads a trace
  int (*run)(const TraceOptions& options);
  bool reads_trace = true;
};

void add_common(CLI::App& job, TraceOptions& options) {
  job.add_option("FILE", options.file,
                 "trace of any kind (simpletrace, log text, ftrace, syslog, babeltrace), or - for standard input")
      ->required();
  job.add_option("--events", options.events_path,
                 "trace-events-all of the QEMU that wrote the trace (default: the installed one)")
      ->type_name("FILE");
  job.add_option("--ids", options.ids, "how files without event names number them: detect, all, enabled")
      ->check(CLI::IsMember({"detect", "all", "enabled"}))
      ->type_name("RULE");
  job.add_option("--event", options.events, "only events whose name matches; commas separate, a leading '-' takes away")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  job.add_option("--from", options.from, "from this time on, since the first record: 1.5s, 200ms, 10us, 7ns")
      ->type_name("TIME");
  job.add_option("--until", options.until, "up to this time")->type_name("TIME");
  job.add_option("--where", options.where, "only events whose fields satisfy it: 'nsectors > 8 && name =~ \"virtio*\"'")
      ->type_name("CONDITION");
}

void add_json(CLI::App& job, TraceOptions& options) { job.add_flag("--json", options.json, "print JSON"); }

void add_follow(CLI::App& job, TraceOptions& options) {
  job.add_flag("--follow", options.follow, "wait for more at the end of the file; end with Ctrl-C");
}

void print_options(CLI::App& job, TraceOptions& options) {
  job.add_flag("--pretty", options.pretty, "absolute time and the declared format string instead, with signed numbers");
  job.add_flag("--json", options.json, "print a JSON object a line instead, with absolute time");
  add_follow(job, options);
}

void stat_options(CLI::App& job, TraceOptions& options) {
  add_json(job, options);
  add_follow(job, options);
}

void hist_options(CLI::App& job, TraceOptions& options) {
  CLI::Option* field = job.add_option("FIELD", options.field, "the field whose values are counted");
  job.add_option("--field", options.field, "the same as an option")->type_name("FIELD")->excludes(field);
  add_json(job, options);
}

void io_options(CLI::App& job, TraceOptions& options) {
  job.add_option("--by", options.by, "what requests are grouped by, commas between: device, queue, direction, size")
      ->delimiter(',')
      ->check(CLI::IsMember({"device", "queue", "direction", "size"}))
      ->type_name("KEYS");
  job.add_option("--perfetto", options.perfetto, "also write a timeline of the requests for ui.perfetto.dev")->type_name("OUT");
  add_json(job, options);
}

void leaks_options(CLI::App& job, TraceOptions& options) {
  options.open_longer = "1s";
  job.add_option("--open-longer", options.open_longer,
                 "also say which unfilled elements were open longer than this (default 1s)")
      ->type_name("TIME");
  add_json(job, options);
}

void overlaps_options(CLI::App& job, TraceOptions& options) {
  job.add_option("--device", options.device, "only writes of this device, by the address in the events")->type_name("ADDRESS");
  job.add_option("--sector", options.sector, "first sector (512 bytes) of a range to watch")->type_name("N");
  job.add_option("--count", options.sector_count, "sectors in that range")->type_name("N");
  add_json(job, options);
}

void top_options(CLI::App& job, TraceOptions& options) {
  job.add_option("--top", options.top, "rows to show (default: all)")->type_name("N");
  add_json(job, options);
}

void add_capture(CLI::App& job, TraceOptions& options, const char* what) {
  job.add_option("--capture", options.capture, what)->type_name("CAPTURE");
  job.add_option("-e,--elf", options.elfs, "the guest kernel's ELF, PATH or PATH@SLIDE (default: the one that the capture names)")
      ->type_name("ELF")
      ->allow_extra_args(false);
}

void waits_options(CLI::App& job, TraceOptions& options) {
  add_capture(job, options, "the plugin's capture of the same run, recorded with trace=");
  job.get_option("--capture")->required();
  options.by = {"direction"};
  job.add_option("--by", options.by, "what waits are grouped by, commas between: direction, task, site (who waits; needs the ELF)")
      ->delimiter(',')
      ->check(CLI::IsMember({"direction", "task", "site"}))
      ->type_name("KEYS");
  job.add_flag("--each", options.each, "list every wait too");
  add_json(job, options);
}

void mmio_options(CLI::App& job, TraceOptions& options) {
  top_options(job, options);
  add_capture(job, options, "the plugin's capture of the same run: says which guest functions made the accesses");
  job.add_option("--within", options.within, "with --capture: the nearest sample counts if it is no farther away (default 50us)")
      ->type_name("TIME");
}

void blkparse_options(CLI::App& job, TraceOptions& options) {
  job.add_option("--guest", options.guest_blkparse, "what blkparse printed in the guest, of the disk")->type_name("TEXT");
  job.add_option("--host", options.host_blkparse, "what blkparse printed on the host, of the device that holds the image")
      ->type_name("TEXT");
  job.add_option("--host-offset", options.host_offset,
                 "sectors that the guest's disk begins at on the host's device (a partition, a file in one piece)")
      ->type_name("SECTORS");
  add_json(job, options);
}

void sql_options(CLI::App& job, TraceOptions& options) {
  job.add_option("QUERY", options.query, "one SELECT, or .schema for the tables")->required();
  add_json(job, options);
}

void export_options(CLI::App& job, TraceOptions& options) {
  job.add_option("OUTPUT", options.output, "SQLite file to make")->required();
}

void control_options(CLI::App& job, TraceOptions& options) {
  job.add_option("--qmp", options.qmp, "QEMU's QMP socket (-qmp unix:SOCKET,server=on,wait=off)")->type_name("SOCKET");
  job.add_option("--hmp", options.hmp, "its monitor for people instead (-monitor unix:SOCKET,server=on,wait=off)")
      ->type_name("SOCKET");
  job.add_option("--virsh", options.virsh, "a guest of libvirt's instead; changes are made behind libvirt's back")
      ->type_name("DOMAIN");
  job.add_option("WHAT", options.words, "list [GLOB] | on GLOB | off GLOB | file [on|off|flush|set PATH]")->required();
  add_json(job, options);
}

constexpr Job kJobs[] = {
    {"print", "print every event, by default byte for byte as QEMU's simpletrace.py does",
     "  qperf trace print trace-1234\n"
     "  qperf trace print --pretty --event 'virtio_*,blk_*' trace-1234",
     print_options, trace_print},
    {"stat", "count events by name: total, share and rate",
     "  qperf trace stat trace-1234\n"
     "  qperf trace stat --from 1s --until 2s --json trace.log",
     stat_options, trace_stat},
    {"hist", "how the values of one field are spread",
     "  qperf trace hist trace-1234 nsectors --event virtio_blk_handle_write", hist_options, trace_hist},
    {"io", "the life of each virtio-blk request, stage by stage",
     "  qperf trace io trace-1234\n"
     "  qperf trace io --by device,direction,size --json trace.log\n"
     "  qperf trace io --perfetto requests.pftrace trace-1234",
     io_options, trace_io},
    {"leaks", "virtqueue elements that were popped and never filled", "  qperf trace leaks --open-longer 100ms trace-1234",
     leaks_options, trace_leaks},
    {"overlaps", "writes that overlap a range, or each other while in flight",
     "  qperf trace overlaps trace-1234\n"
     "  qperf trace overlaps --sector 4096 --count 8 trace-1234",
     overlaps_options, trace_overlaps},
    {"mmio", "the device registers accessed most, and by which guest functions",
     "  qperf trace mmio --top 20 trace-1234\n"
     "  qperf trace mmio --capture qperf.bin -e kernel.elf trace-1234",
     mmio_options, trace_mmio},
    {"blkparse", "the same requests in blktrace text of guest and host and in QEMU: sizes, merges, order",
     "  qperf trace blkparse --guest guest.txt --host host.txt --host-offset 2048 trace-1234", blkparse_options, trace_blkparse},
    {"waits", "what guest tasks waited for when they waited for a disk: queue, QEMU, host, interrupt",
     "  qperf trace waits --capture qperf.bin trace.log\n"
     "  qperf trace waits --capture qperf.bin -e kernel.elf --by site,direction trace.log",
     waits_options, trace_waits},
    {"locks", "QEMU's mutexes by the place that takes them: waits and holds", "  qperf trace locks --top 20 trace-1234",
     top_options, trace_locks},
    {"sql", "ask with SQL: each event is a table of ts_ns, pid, tid and its fields",
     "  qperf trace sql trace-1234 .schema\n"
     "  qperf trace sql trace-1234 'SELECT is_write, count(*), sum(size) FROM virtio_blk_submit_multireq GROUP BY is_write'",
     sql_options, trace_sql},
    {"export", "write the tables of `sql` to a file", "  qperf trace export trace-1234 trace.sqlite", export_options,
     trace_export},
    {"control", "see and switch the events of a running QEMU",
     "  qperf trace control --qmp /run/vm.qmp list 'virtio_blk_*'\n"
     "  qperf trace control --qmp /run/vm.qmp on 'virtio_*'\n"
     "  qperf trace control --qmp /run/vm.qmp file flush\n"
     "  qperf trace control --virsh builder list 'virtio_*'",
     control_options, trace_control, false},
};

}  // namespace

void add_trace_command(CLI::App& app, Action& action) {
  CLI::App* trace = app.add_subcommand("trace", "read and analyse QEMU's own trace events");
  trace->require_subcommand(1);
  trace->footer(
      "Reads what QEMU's simple and log back ends write, and the same events as ftrace, syslog, SystemTap and LTTng show "
      "them;\n"
      "the kind is detected. Record a trace with, for example:\n"
      "  qemu-system-x86_64 ... -msg timestamp=on -D trace.log -trace 'virtio_*' -trace 'virtqueue_*' -trace 'blk_*'");
  for (const Job& job : kJobs) {
    CLI::App* parser = trace->add_subcommand(job.name, job.summary);
    auto options = std::make_shared<TraceOptions>();
    if (job.reads_trace) add_common(*parser, *options);
    job.add_options(*parser, *options);
    parser->footer(std::string("Examples:\n") + job.examples);
    parser->callback([&action, options, run = job.run] { action = [options, run] { return run(*options); }; });
  }
}

}  // namespace qperf::tools
