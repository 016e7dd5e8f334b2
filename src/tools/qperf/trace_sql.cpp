#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "qemutrace/print.h"
#include "tools/qperf/json.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/table.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {
namespace {

using qemutrace::Event;
using qemutrace::EventInfo;

struct CloseDatabase {
  void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

/// A name between double quotes, as SQL quotes identifiers: declared names are words, but an events file is untrusted too.
std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Names that SQLite can tell from each other: to it `a` and `A` are one.
class SqlNames {
 public:
  explicit SqlNames(std::initializer_list<const char*> taken) : taken_(taken.begin(), taken.end()) {}

  /// `name`, with `prefix` where it is taken from the start or SQLite's own, with a number where another event or field had it first.
  std::string unique(const std::string& name, const char* prefix) {
    const bool own = folded(name).starts_with("sqlite_") || taken_.contains(folded(name));
    const std::string wanted = (own ? prefix : "") + name;
    std::string out = wanted;
    for (size_t number = 2; !given_.insert(folded(out)).second || taken_.contains(folded(out)); ++number)
      out = wanted + "_" + std::to_string(number);
    return out;
  }

 private:
  static std::string folded(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
  }

  std::set<std::string> taken_;
  std::set<std::string> given_;
};

/// Events in SQLite: a table per event with ts_ns, pid, tid and its declared fields, a table `lost` for gaps. Numbers are
/// stored as SQLite's 64-bit signed ones, so an unsigned field above 2^63 reads negative.
class Database {
 public:
  static Result<Database> open(const std::string& path) {
    Database out;
    sqlite3* raw = nullptr;
    const int status = sqlite3_open(path.c_str(), &raw);
    out.database_.reset(raw);
    if (status != SQLITE_OK) return out.failure("cannot be opened");
    QPERF_RETURN_IF_ERROR(out.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN"));
    QPERF_RETURN_IF_ERROR(out.execute("CREATE TABLE lost(ts_ns INTEGER, events INTEGER)"));
    return out;
  }

  Result<void> add(const Event& event) {
    if (event.is_loss) {
      return execute("INSERT INTO lost VALUES(" + std::to_string(static_cast<int64_t>(event.time_ns)) + "," +
                     std::to_string(static_cast<int64_t>(event.values[0].number)) + ")");
    }
    if (event.state != qemutrace::ValueState::kDecoded) return {};  // the source's report counts them
    Statement& insert = inserts_[event.info];
    if (!insert) {
      QPERF_ASSIGN_OR_RETURN(insert, table_for(*event.info));
    }
    sqlite3_stmt* s = insert.get();
    int column = 1;
    const auto number = [&](bool there, uint64_t value) {
      there ? sqlite3_bind_int64(s, column, static_cast<int64_t>(value)) : sqlite3_bind_null(s, column);
      ++column;
    };
    number(event.has_time, event.time_ns);
    number(event.has_pid, event.pid);
    number(event.has_tid, event.tid);
    for (size_t i = 0; i < event.info->arguments.size(); ++i) {
      const qemutrace::Value& value = event.values[i];
      if (event.has_value(i) && value.is_string()) {
        sqlite3_bind_text(s, column++, value.text, static_cast<int>(value.number), SQLITE_STATIC);
      } else {
        number(event.has_value(i), value.number);
      }
    }
    if (sqlite3_step(s) != SQLITE_DONE) return failure("insert");
    sqlite3_reset(s);
    return {};
  }

  Result<void> commit() {
    inserts_.clear();
    return execute("COMMIT");
  }

  /// Runs one SELECT; `columns` gets the names, each row goes to `take`.
  template <typename Take>
  Result<void> select(const std::string& sql, std::vector<Table::Column>& columns, Take take) {
    sqlite3_stmt* raw = nullptr;
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()), &raw, &rest) != SQLITE_OK)
      return usage();
    const Statement statement(raw);
    if (!statement) return Error{ErrorCode::kUsage, "SQL: empty, expected a SELECT"};
    if (std::string_view(rest).find_first_not_of(" ;\n\t") != std::string_view::npos)
      return Error{ErrorCode::kUsage, "SQL: more than one statement, expected one SELECT"};
    if (sqlite3_stmt_readonly(raw) == 0) return Error{ErrorCode::kUsage, "SQL: the statement writes, expected a SELECT"};
    for (int i = 0; i < sqlite3_column_count(raw); ++i)
      columns.push_back({printable(sqlite3_column_name(raw, i)), sqlite3_column_name(raw, i), false});
    int status = 0;
    while ((status = sqlite3_step(raw)) == SQLITE_ROW) {
      std::vector<Cell> row;
      for (int i = 0; i < sqlite3_column_count(raw); ++i) row.push_back(value_cell(raw, i));
      take(std::move(row));
    }
    return status == SQLITE_DONE ? Result<void>() : usage();
  }

 private:
  Database() = default;

  Error failure(std::string_view doing) const {
    return Error{ErrorCode::kIo, "SQLite: " + std::string(doing) + ": " + printable(sqlite3_errmsg(database_.get()))};
  }
  Error usage() const {
    return Error{ErrorCode::kUsage,
                 "SQL: " + printable(sqlite3_errmsg(database_.get())) + "; each event is a table, '.schema' lists them"};
  }
  Result<void> execute(const std::string& sql) {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return failure(sql.substr(0, 40));
    return {};
  }

  Result<Statement> table_for(const EventInfo& info) {
    // A record with a vCPU in front is another shape of the same event: a table of its own.
    const std::string name =
        tables_.unique(info.name + (info.declaration->arguments.size() == info.arguments.size() ? "" : "_with_vcpu"), "event_");
    std::string create = "CREATE TABLE " + sql_name(name) + "(ts_ns INTEGER, pid INTEGER, tid INTEGER";
    std::string insert = "INSERT INTO " + sql_name(name) + " VALUES(?,?,?";
    SqlNames columns{"ts_ns", "pid", "tid"};
    for (const auto& argument : info.arguments) {
      create += ", " + sql_name(columns.unique(argument.name, "arg_")) +
                (argument.kind == qemutrace::ArgumentKind::kString ? " TEXT" : " INTEGER");
      insert += ",?";
    }
    QPERF_RETURN_IF_ERROR(execute(create + ")"));
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_.get(), (insert + ")").c_str(), -1, &raw, nullptr) != SQLITE_OK) return failure(name);
    return Statement(raw);
  }

  static Cell value_cell(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER: return cell_signed(sqlite3_column_int64(statement, column));
      case SQLITE_FLOAT: return cell_decimal(sqlite3_column_double(statement, column));
      case SQLITE_NULL: return {"-", "null"};
      default: break;
    }
    const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
    return cell_text({text == nullptr ? "" : text, static_cast<size_t>(sqlite3_column_bytes(statement, column))});
  }

  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::unordered_map<const EventInfo*, Statement> inserts_;
  SqlNames tables_{"lost"};
};

/// A file that appears when it is whole: until then it has another name beside its own, and is removed if it never comes to that.
class NewFile {
 public:
  static Result<NewFile> create(const std::string& path) {
    if (::access(path.c_str(), F_OK) == 0) return exists(path);
    NewFile file(path);
    const int descriptor = ::mkstemp(file.temporary_.data());
    if (descriptor < 0) return file.failure("cannot be created");
    const mode_t mask = ::umask(0);
    ::umask(mask);
    const bool opened_up = ::fchmod(descriptor, 0666 & ~mask) == 0;  // as a plain open() would have made it
    ::close(descriptor);
    file.made_ = true;
    if (!opened_up) return file.failure("cannot be given its permissions");
    return file;
  }
  NewFile(NewFile&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), made_(std::exchange(other.made_, false)) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile() {
    if (made_) ::unlink(temporary_.c_str());
  }

  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  Result<void> commit() {
    if (::access(path_.c_str(), F_OK) == 0) return exists(path_);  // somebody else made it meanwhile
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) return failure("cannot be put in its place");
    made_ = false;
    return {};
  }

 private:
  explicit NewFile(const std::string& path) : path_(path), temporary_(path + ".XXXXXX") {}
  static Error exists(const std::string& path) {
    return Error{ErrorCode::kUsage, printable(path) + ": exists, expected the name of a new file"};
  }
  Error failure(const char* what) const {
    return Error{ErrorCode::kIo, printable(path_) + ": " + what + ": " + std::strerror(errno)};
  }

  std::string path_;
  std::string temporary_;
  bool made_ = false;
};

Result<Database> filled(OpenTrace& opened, const std::string& path) {
  QPERF_ASSIGN_OR_RETURN(Database database, Database::open(path));
  Event event;
  while (opened.source().next(event)) {
    if (!opened.filter.keeps(event)) continue;
    QPERF_RETURN_IF_ERROR(database.add(event));
  }
  opened.all_read();
  QPERF_RETURN_IF_ERROR(database.commit());
  return database;
}

}  // namespace

int trace_sql(const TraceOptions& options) {
  auto opened = open(options);
  if (!opened) return report_error(opened.error());
  auto database = filled(*opened, ":memory:");
  if (!database) return report_error(database.error());
  const std::string sql = options.query == ".schema" ? "SELECT sql AS schema FROM sqlite_schema ORDER BY name" : options.query;
  std::vector<Table::Column> columns;
  std::vector<std::vector<Cell>> rows;
  const auto selected = database->select(sql, columns, [&](std::vector<Cell> row) { rows.push_back(std::move(row)); });
  if (!selected) return report_error(selected.error());
  if (options.query == ".schema") columns[0].left = true;
  Table table(columns);
  for (auto& row : rows) table.add(std::move(row));
  JsonObject json = json_of_job("sql");
  json.raw("rows", table.json());
  json.members(json_report(opened->source().report()));
  const int written = write_out(options.json ? json.text() : table.text());
  const int complete = conclude(opened->source().report());
  return written != kDone ? written : complete;
}

int trace_export(const TraceOptions& options) {
  auto file = NewFile::create(options.output);
  if (!file) return report_error(file.error());
  auto opened = open(options);
  if (!opened) return report_error(opened.error());
  {
    const auto database = filled(*opened, file->temporary());
    if (!database) return report_error(Error(database.error()).in(printable(options.output)));
  }
  if (const auto committed = file->commit(); !committed) return report_error(committed.error());
  return conclude(opened->source().report());
}

}  // namespace qperf::tools
