import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;
import org.rocksdb.RocksDB;

/**
 * Runs one JUnit class in this process and writes its outcomes to a file, a line for each event:
 *
 *   started NAME              before a test
 *   passed|failed|ignored|left out NAME TEXT
 *   library PATH              a native library of RocksDB's classes, after the last test
 *
 * The fields are separated by tabs. The file has a started test without an outcome, or no library,
 * if the process ended early.
 */
public final class ClassRun extends RunListener {
  private final String prefix;
  private final PrintStream events;
  private final Set<String> leftOut;
  private final Set<String> reported = new HashSet<>();
  private boolean failed;

  private ClassRun(String prefix, PrintStream events, Set<String> leftOut) {
    this.prefix = prefix;
    this.events = events;
    this.leftOut = leftOut;
  }

  /** Leaves out what the arguments name, and reports it. */
  private Filter filter() {
    return new Filter() {
      @Override
      public boolean shouldRun(Description test) {
        if (!test.isTest() || !leftOut.contains(name(test))) return true;
        // The filter may see a test several times.
        if (reported.add(name(test))) write("left out", test, "");
        return false;
      }

      @Override
      public String describe() {
        return "the tests that are judged";
      }
    };
  }

  private String name(Description test) {
    String name = test.getClassName().substring(prefix.length());
    return test.getMethodName() == null ? name : name + "." + test.getMethodName();
  }

  private void write(String event, Description test, String text) {
    String line = text == null ? "" : text.replaceAll("\\s+", " ").trim();
    events.println(event + "\t" + name(test) + "\t" + line);
  }

  @Override
  public void testStarted(Description test) {
    failed = false;
    write("started", test, "");
  }

  @Override
  public void testFailure(Failure failure) {
    // A test has several failures if its cleanup fails too. The first failure is its outcome.
    if (!failed) write("failed", failure.getDescription(), failure.getException().toString());
    failed = true;
    System.out.println(failure.getTestHeader() + "\n" + failure.getTrace());
  }

  @Override
  public void testFinished(Description test) {
    if (!failed) write("passed", test, "");
  }

  @Override
  public void testAssumptionFailure(Failure failure) {
    failed = true;
    write("ignored", failure.getDescription(), failure.getMessage());
  }

  @Override
  public void testIgnored(Description test) {
    write("ignored", test, "");
  }

  private static List<String> libraries() throws IOException {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains("ashlarjni") || line.contains("rocksdbjni"))
          .filter(line -> line.endsWith(".so"))
          .map(line -> line.substring(line.indexOf('/')))
          .distinct()
          .collect(Collectors.toList());
    }
  }

  /** Arguments: class, its prefix that names lack, file of outcomes, tests that are left out. */
  public static void main(String[] arguments) throws Exception {
    // Some test classes rely on others in the same process to load the library.
    RocksDB.loadLibrary();
    Class<?> type = Class.forName(arguments[0]);
    try (PrintStream events = new PrintStream(arguments[2])) {
      if (!Modifier.isAbstract(type.getModifiers())) {
        List<String> leftOut = List.of(arguments).subList(3, arguments.length);
        ClassRun run = new ClassRun(arguments[1], events, Set.copyOf(leftOut));
        JUnitCore runner = new JUnitCore();
        runner.addListener(run);
        runner.run(Request.aClass(type).filterWith(run.filter()));
      }
      events.println("library\t" + String.join(" ", libraries()));
    }
    System.exit(0);
  }
}
