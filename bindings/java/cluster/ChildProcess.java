import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A Java program as a process of its own, with this program's class path, which can be killed and
 * started again on its folder. It says "> started" when it serves, and answers each line on its
 * standard input by one that begins with "> ". The end of its input ends it, so that it does not
 * outlive its parent. One thread uses it.
 */
class ChildProcess {
  /**
   * Whose native library RocksDB's classes load: the folder for java.library.path, or null for the
   * one in the jar.
   */
  record Library(String name, String folder) {}

  final Path folder;
  private final Path scratch;
  private final Path log;
  private final Library library;
  private Process process;
  private Writer commands;
  private BlockingQueue<String> answers;
  private long startedAt;

  ChildProcess(Path root, String name, Library library) {
    folder = root.resolve(name);
    scratch = root.resolve(name + ".scratch");
    log = root.resolve(name + ".log");
    this.library = library;
  }

  /** What it writes to standard error: logs and exceptions. */
  Path log() {
    return log;
  }

  /** Returns before the program serves. */
  void launch(List<String> flags, String main, List<String> arguments) throws IOException {
    Files.createDirectories(folder);
    Files.createDirectories(scratch);
    List<String> command = new ArrayList<>(
        List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    if (library.folder() != null) command.add("-Djava.library.path=" + library.folder());
    // Libraries extracted from a jar, and logs that libraries write to the home folder, are kept in
    // the scratch folder.
    command.addAll(List.of("-Djava.io.tmpdir=" + scratch, "-Duser.home=" + scratch,
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-Dorg.slf4j.simpleLogger.showDateTime=true"));
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath(), main));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).directory(scratch.toFile());
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
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
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Whether the program serves, within two minutes. */
  boolean awaitStarted() throws InterruptedException {
    return "started".equals(answers.poll(120, TimeUnit.SECONDS));
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
    if (!isAlive()) return;
    process.destroyForcibly();
    process.waitFor();
  }

  void quit() throws InterruptedException {
    if (!isAlive()) return;
    try {
      commands.close();
    } catch (IOException e) {
      // It ends by itself.
    }
    if (!process.waitFor(30, TimeUnit.SECONDS)) kill();
  }

  /** The line of /proc/PID/maps that names the native library, of its executable part. */
  String mappedLibrary() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid()), "maps"))) {
      return lines
          .filter(line
              -> line.contains(" r-xp ")
                  && (line.contains("ashlarjni") || line.contains("rocksdbjni")))
          .findFirst()
          .orElse("none");
    }
  }

  /** IllegalStateException if another library is loaded than was asked for, or none. */
  void checkLibrary() throws IOException {
    String mapped = mappedLibrary();
    boolean ashlar = mapped.endsWith("libashlarjni.so"), wanted = library.folder() != null;
    if (mapped.equals("none") || ashlar != wanted)
      throw new IllegalStateException("not the library of " + library.name() + ": " + mapped);
  }

  /** The addresses on which it listens. IllegalStateException if other machines could reach one. */
  List<String> checkListeners() throws IOException {
    List<String> addresses = Listeners.of(pid());
    for (String address : addresses) {
      if (!Listeners.isLoopback(address))
        throw new IllegalStateException(folder.getFileName() + " listens on " + address
            + " of /proc/" + pid() + "/net, which is not a loopback address");
    }
    return addresses;
  }

  long memoryBytes() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid()), "status"))) {
      return lines.filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .findFirst()
          .orElse(0);
    }
  }

  /** Of the process, since it started. */
  double processorSeconds() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1e9;
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
      return diskBytes();  // a file has vanished meanwhile
    }
    return bytes;
  }

  /** A folder and what is in it. */
  static void delete(Path path) throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator)
        Files.delete(file);
    }
  }
}
