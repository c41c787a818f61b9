import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.rocksdb.*;

/**
 * Calls each native that throws (generate.py unsupported) with zeros and null: it must name its
 * feature, and look at no argument before.
 */
final class UnsupportedNatives {
  private static final int NATIVES_MIN = 100;  // an empty list would prove nothing

  private static final Class<?>[] PRIMITIVES = {boolean.class, byte.class, char.class, short.class,
      int.class, long.class, float.class, double.class};
  private static final Object[] ZEROS = {false, (byte) 0, (char) 0, (short) 0, 0, 0L, 0f, 0d};

  /** Subclasses of the abstract classes that have such natives, never constructed. */
  private static final class TraceWriter extends AbstractTraceWriter {
    @Override
    public void write(Slice data) {}
    @Override
    public void closeWriter() {}
    @Override
    public long getFileSize() {
      return 0;
    }
  }
  private static final class Notifier extends AbstractTransactionNotifier {
    @Override
    public void snapshotCreated(Snapshot snapshot) {}
  }
  private static final List<Class<?>> SUBCLASSES = List.of(TraceWriter.class, Notifier.class);

  private UnsupportedNatives() {}

  private static Object zero(Class<?> type) {
    for (int i = 0; i < PRIMITIVES.length; ++i) {
      if (PRIMITIVES[i] == type) return ZEROS[i];
    }
    return null;
  }

  /** An object without a call of its constructor, which would call natives. */
  private static Object allocate(Class<?> type) throws Exception {
    java.lang.reflect.Field unsafe = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
    unsafe.setAccessible(true);
    Class<?> concrete = SUBCLASSES.stream().filter(type::isAssignableFrom).findFirst().orElse(null);
    return ((sun.misc.Unsafe) unsafe.get(null))
        .allocateInstance(Modifier.isAbstract(type.getModifiers()) ? concrete : type);
  }

  private static Method method(Class<?> type, String name, String descriptor) {
    return Stream.of(type.getDeclaredMethods())
        .filter(method
            -> method.getName().equals(name)
                && descriptor.equals(
                    MethodType.methodType(method.getReturnType(), method.getParameterTypes())
                        .toMethodDescriptorString()))
        .findFirst()
        .orElseThrow(
            () -> new AssertionError("no method " + type.getName() + "." + name + descriptor));
  }

  private static Throwable call(Method method, Object self) throws Exception {
    method.setAccessible(true);
    try {
      method.invoke(
          self, Stream.of(method.getParameterTypes()).map(UnsupportedNatives::zero).toArray());
    } catch (InvocationTargetException e) {
      return e.getCause();
    }
    throw new AssertionError(method + " returned");
  }

  static void throwTheNamesOfTheirFeatures(String dir) throws Exception {
    String list = System.getProperty("ashlar.unsupported");
    BindingTest.check(
        list != null, "-Dashlar.unsupported=FILE names the output of generate.py unsupported");
    int called = 0;
    for (String line : Files.readAllLines(Path.of(list))) {
      String[] fields = line.split("\t");
      Class<?> type = Class.forName(fields[0]);
      Method method = method(type, fields[1], fields[2]);
      Throwable thrown =
          call(method, Modifier.isStatic(method.getModifiers()) ? null : allocate(type));
      BindingTest.check(
          thrown instanceof UnsupportedOperationException, line + " throws " + thrown);
      BindingTest.equal(fields[3] + ": not in Ashlar", thrown.getMessage());
      ++called;
    }
    BindingTest.check(called >= NATIVES_MIN, "only " + called + " natives in " + list);
  }
}
