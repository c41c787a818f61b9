import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs RocksJava's own tests on libashlarjni, each class in a Java machine of its own, and compares
 * the outcomes with a list of the tests that are known to fail.
 *
 *   sources of tests ──javac──> classes ──ClassRun──> outcomes ─┐
 *   rocksjava-expectations.txt ─────────────────────────────────┴─Expectations──> differences
 *
 * No line excuses a process that dies, does not end, maps another native library, or gets a warning
 * of -Xcheck:jni.
 */
public final class RocksJavaTests {
  private static final String PREFIX = "org.rocksdb.";
  private static final int CLASS_SECONDS_MAX = 300;

  private final Path library;
  private final Path folder;
  private final Expectations expectations;
  private final List<Expectations.Outcome> outcomes = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
  private int classes;

  private RocksJavaTests(Path library, Path folder, Expectations expectations) {
    this.library = library;
    this.folder = folder;
    this.expectations = expectations;
  }

  private static void delete(Path path) throws IOException {
    if (!Files.exists(path)) return;
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  /** The classes with tests that the sources declare, without the package's prefix. */
  private static Set<String> typesOf(Path sources) throws IOException {
    try (Stream<Path> files = Files.walk(sources)) {
      return files.map(file -> sources.relativize(file).toString())
          .filter(name -> name.endsWith("Test.java"))
          .map(name -> name.substring(0, name.length() - ".java".length()).replace('/', '.'))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private Process start(String type, Path scratch, Path events, Path log) throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                           .map(entry -> Path.of(entry).toAbsolutePath().toString())
                           .collect(Collectors.joining(File.pathSeparator));
    // Mockito 1 defines classes by reflection, so java.lang must be open.
    // The tests expect the assertions of RocksDB's classes.
    List<String> command = new ArrayList<>(List.of(java, "-ea:org.rocksdb...", "-Xcheck:jni",
        "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-Djava.library.path=" + library,
        "-Djava.io.tmpdir=" + scratch, "-XX:ErrorFile=" + log + ".crash",
        "-XX:-CreateCoredumpOnCrash", "-cp", classPath, "ClassRun", PREFIX + type, PREFIX,
        events.toString()));
    command.addAll(expectations.leftOut());
    ProcessBuilder builder = new ProcessBuilder(command).directory(scratch.toFile());
    return builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
  }

  private void read(String type, Path events) throws IOException {
    String running = "", libraries = "";
    for (String line : Files.readAllLines(events)) {
      String[] fields = line.split("\t", 3);
      if (fields[0].equals("library")) {
        libraries = fields[1];
      } else if (fields[0].equals("started")) {
        running = fields[1];
      } else {
        outcomes.add(new Expectations.Outcome(fields[0], type, fields[1], fields[2]));
        if (fields[1].equals(running)) running = "";
      }
    }
    if (libraries.isEmpty()) {
      faults.add("the process ended early: " + type + (running.isEmpty() ? "" : ", in " + running));
    } else if (!libraries.equals(library + "/libashlarjni.so")) {
      faults.add("another native library: " + type + ": " + libraries);
    }
  }

  private void run(String type) throws IOException, InterruptedException {
    Path scratch = folder.resolve("scratch");
    Path events = folder.resolve(type + ".tsv"), log = folder.resolve(type + ".log");
    delete(scratch);
    Files.createDirectories(scratch);
    int before = outcomes.size();
    Process process = start(type, scratch, events, log);
    if (!process.waitFor(CLASS_SECONDS_MAX, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
      faults.add("no end within " + CLASS_SECONDS_MAX + " s: " + type);
    }
    if (Files.exists(events)) read(type, events);
    if (process.exitValue() != 0) faults.add("exit " + process.exitValue() + ": " + type);
    if (Files.readString(log).contains("in native method:")) faults.add("-Xcheck:jni: " + type);
    if (outcomes.size() > before) ++classes;
    delete(scratch);
  }

  private boolean report() {
    List<String> differences = expectations.differences(outcomes);
    differences.addAll(faults);
    for (String text : differences) System.out.println(text);
    Map<String, Integer> reasons = expectations.reasons(outcomes);
    reasons.forEach((reason, tests) -> System.out.println(tests + " as listed: " + reason));
    Map<String, Long> counts = outcomes.stream().collect(
        Collectors.groupingBy(Expectations.Outcome::event, Collectors.counting()));
    System.out.println(outcomes.size() + " tests of " + classes
        + " classes: " + counts.getOrDefault("passed", 0L) + " pass, "
        + counts.getOrDefault("failed", 0L) + " fail, " + counts.getOrDefault("ignored", 0L)
        + " are ignored, " + counts.getOrDefault("left out", 0L) + " are left out; "
        + differences.size() + " differences from the list");
    return differences.isEmpty() && !outcomes.isEmpty();
  }

  /** Arguments: folder of sources, of the library, for logs; list; classes, or none for all. */
  public static void main(String[] arguments) throws Exception {
    Set<String> types = typesOf(Path.of(arguments[0], "org", "rocksdb"));
    Expectations expectations = Expectations.read(Path.of(arguments[3]));
    if (arguments.length > 4) {
      Set<String> wanted = new TreeSet<>(List.of(arguments).subList(4, arguments.length));
      if (!types.containsAll(wanted)) throw new IOException("no such class among " + wanted);
      types = wanted;
      expectations = expectations.only(types);
    }
    Path library = Path.of(arguments[1]).toRealPath(), folder = Path.of(arguments[2]);
    delete(folder);
    Files.createDirectories(folder);
    RocksJavaTests tests = new RocksJavaTests(library, folder.toRealPath(), expectations);
    for (String type : types) tests.run(type);
    System.exit(tests.report() ? 0 : 1);
  }
}
