import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs Kafka Streams' own tests of its stores on RocksDB, from the jar of its tests, on
 * libashlarjni, and compares the outcomes with a list of the tests that are known to fail
 * (Expectations).
 */
public final class KafkaStoreTests implements TestExecutionListener {
  private static final String PACKAGE = "org.apache.kafka.streams.state.internals.";
  private static final String CLASSES = PACKAGE.replace(".", "\\.") + "RocksDB\\w+Test";

  private final List<Expectations.Outcome> outcomes = new ArrayList<>();

  private KafkaStoreTests() {}

  /**
   * The class, and the method of it; the number of a repetition with other parameters is in the
   * last part of the id.
   */
  private static Expectations.Outcome outcome(
      String event, TestSource source, String id, String text) {
    String type = source instanceof MethodSource method ? method.getClassName()
                                                        : ((ClassSource) source).getClassName();
    type = type.substring(PACKAGE.length());
    String name =
        source instanceof MethodSource method ? type + "." + method.getMethodName() : type;
    UniqueId.Segment last = UniqueId.parse(id).getLastSegment();
    if (last.getType().equals("test-template-invocation"))
      name += "[" + last.getValue().replace("#", "") + "]";
    return new Expectations.Outcome(
        event, type, name, text == null ? "" : text.replaceAll("\\s+", " ").trim());
  }

  private static String textOf(Throwable failure) {
    StringBuilder text = new StringBuilder();
    for (Throwable e = failure; e != null; e = e.getCause())
      text.append(text.length() == 0 ? "" : ": ").append(e);
    return text.toString();
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    boolean passed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    // A failed class counts too.
    if (test.getSource().isEmpty() || (passed && !test.isTest())) return;
    String event = passed                                          ? "passed"
        : result.getStatus() == TestExecutionResult.Status.ABORTED ? "ignored"
                                                                   : "failed";
    outcomes.add(outcome(event, test.getSource().get(), test.getUniqueId(),
        textOf(result.getThrowable().orElse(null))));
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    test.getSource().ifPresent(
        source -> outcomes.add(outcome("ignored", source, test.getUniqueId(), reason)));
  }

  private PostDiscoveryFilter without(Set<String> leftOut) {
    return test -> {
      if (!(test.getSource().orElse(null) instanceof MethodSource source))
        return FilterResult.included("");
      Expectations.Outcome found = outcome("left out", source, test.getUniqueId().toString(), "");
      if (!leftOut.contains(found.test())) return FilterResult.included("");
      outcomes.add(found);
      return FilterResult.excluded("listed");
    };
  }

  private static String libraries() throws IOException {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains("rocksdbjni") || line.contains("ashlarjni"))
          .filter(line -> line.endsWith(".so"))
          .map(line -> line.substring(line.indexOf('/')))
          .distinct()
          .reduce("", (a, b) -> (a + " " + b).trim());
    }
  }

  private long count(String event) {
    return outcomes.stream().filter(outcome -> outcome.event().equals(event)).count();
  }

  /** Argument: the list of expectations. */
  public static void main(String[] arguments) throws Exception {
    Expectations expectations = Expectations.read(Path.of(arguments[0]));
    KafkaStoreTests run = new KafkaStoreTests();
    LauncherFactory.create().execute(
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectPackage(PACKAGE.substring(0, PACKAGE.length() - 1)))
            .filters(ClassNameFilter.includeClassNamePatterns(CLASSES),
                run.without(expectations.leftOut()))
            .build(),
        run);
    List<String> faults = new ArrayList<>(expectations.differences(run.outcomes));
    String libraries = libraries();
    System.out.println("library: " + libraries);
    if (!libraries.endsWith("libashlarjni.so") || libraries.contains(" "))
      faults.add("the library is another one: set java.library.path");
    expectations.reasons(run.outcomes)
        .forEach((reason, tests) -> System.out.println(tests + " as listed: " + reason));
    faults.forEach(fault -> System.out.println("FAULT  " + fault));
    System.out.printf(
        "%d tests: %d passed, %d failed, %d ignored, %d left out; %d differences from the list%n",
        run.outcomes.size(), run.count("passed"), run.count("failed"), run.count("ignored"),
        run.count("left out"), faults.size());
    System.exit(faults.isEmpty() && run.count("passed") > 0 ? 0 : 1);
  }
}
