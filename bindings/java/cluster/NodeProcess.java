import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A node as a process of its own, which can be killed and started again on its folder. One thread uses it. */
final class NodeProcess {
  /** Whose native library the nodes load: the folder for java.library.path, or null for the one in the jar. */
  record Library(String name, String folder) {}

  final int number;
  final int port;
  final Path folder;
  private final Library library;
  private Process process;
  private Writer commands;
  private BlockingQueue<String> answers;
  private long startedAt;

  NodeProcess(int number, int port, Path root, Library library) {
    this.number = number;
    this.port = port;
    this.folder = root.resolve("node" + number);
    this.library = library;
  }

  /** Another process for the same folder and port. */
  NodeProcess twin() {
    return new NodeProcess(number, port, folder.getParent(), library);
  }

  String address() {
    return "127.0.0.1:" + port;
  }

  Path log() {
    return folder.resolveSibling(folder.getFileName() + ".log");
  }

  /** Returns before the node has started. */
  void start(String servers) throws IOException {
    Files.createDirectories(folder);
    Path scratch = Files.createDirectories(folder.resolveSibling("scratch" + number));
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms256m", "-Xmx512m", "--add-opens=java.base/java.lang=ALL-UNNAMED"));
    if (library.folder() != null) command.add("-Djava.library.path=" + library.folder());
    command.addAll(List.of("-Djava.io.tmpdir=" + scratch, "-Duser.home=" + scratch, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.log.com.alipay.sofa.common.log=error",
        "-Dbolt.netty.buffer.high.watermark=67108864", "-cp", classPath(), "RheaNode", Integer.toString(port), folder.toString(), servers));
    ProcessBuilder builder = new ProcessBuilder(command).directory(scratch.toFile());
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log().toFile()));
    startedAt = System.nanoTime();
    process = builder.start();
    commands = process.outputWriter(StandardCharsets.UTF_8);
    BlockingQueue<String> queue = new LinkedBlockingQueue<>();
    answers = queue;
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    Thread reader = new Thread(() -> {
      try {
        for (String line; (line = output.readLine()) != null;) {
          if (line.startsWith("> ")) queue.add(line.substring(2));
        }
      } catch (IOException e) {
        // The process was killed.
      }
      queue.add("ended");
    });
    reader.setDaemon(true);
    reader.start();
  }

  private static String classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Whether the node started, within a minute. */
  boolean awaitStarted() throws InterruptedException {
    return "started".equals(answers.poll(60, TimeUnit.SECONDS));
  }

  long startedAt() {
    return startedAt;
  }

  boolean isAlive() {
    return process != null && process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  /** The answer to a command; "ended" from a process that is not there. */
  String ask(String command) throws InterruptedException {
    try {
      commands.write(command + "\n");
      commands.flush();
    } catch (IOException e) {
      return "ended";
    }
    String answer = answers.poll(60, TimeUnit.SECONDS);
    return answer == null ? "no answer" : answer;
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  void quit() throws InterruptedException {
    if (!isAlive()) return;
    try {
      commands.write("quit\n");
      commands.flush();
    } catch (IOException e) {
      // It ends by itself.
    }
    if (!process.waitFor(30, TimeUnit.SECONDS)) kill();
  }

  /** The line of /proc/PID/maps that names the native library, of its executable part. */
  String mappedLibrary() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid()), "maps"))) {
      return lines.filter(line -> line.contains(" r-xp ") && (line.contains("ashlarjni") || line.contains("rocksdbjni"))).findFirst().orElse("none");
    }
  }

  long memoryBytes() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid()), "status"))) {
      return lines.filter(line -> line.startsWith("VmRSS:")).mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024).findFirst().orElse(0);
    }
  }

  /** Of the process, since it started. */
  double processorSeconds() {
    return process.info().totalCpuDuration().orElse(java.time.Duration.ZERO).toNanos() / 1e9;
  }

  /** The length of all its files. */
  long diskBytes() throws IOException {
    long bytes = 0;
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        File entry = file.toFile();
        if (entry.isFile()) bytes += entry.length();
      }
    } catch (java.io.UncheckedIOException e) {
      return diskBytes();
    }
    return bytes;
  }
}
