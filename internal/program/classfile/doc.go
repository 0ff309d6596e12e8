// Package classfile reads Java class files as far as a profile needs them: the
// methods of a class, and the source line of a bytecode index.
//
//	x := classfile.NewIndex(classfile.Options{})
//	err := x.Add("app.jar")               // or a folder, a .jmod, a .class file
//	m, ok := x.Method("java.util.HashMap", "get", []string{"java.lang.Object"}, "java.lang.Object")
//	line, ok := m.Line(17)
//
// Types have the names that Class.getName returns, as in iprof profiles: int, a.B$C, [I, [Ljava.lang.String;.
//
// # What is read
//
// The package reads class files of every version from 45 up; 69 is the newest version that its tests cover. It
// reads the attributes SourceFile, Code and LineNumberTable and skips all others, known or not, so it also reads
// newer versions unless they add kinds of constants.
//
// A folder stands for all class files and archives below it; links to folders are not followed. Archives are zip
// files of any name (.jar, .war, .zip) and .jmod files. The path of a class file in an archive does not matter,
// because the class contains its name, with two exceptions:
//
//   - In a multi-release jar (Multi-Release: true in the manifest) the class of the
//     newest release under META-INF/versions counts, or of the newest release up
//     to [Options].Release. Like the virtual machine, the package ignores that
//     folder in other jars.
//   - Archives in archives are read in BOOT-INF/lib/ and WEB-INF/lib/, one level
//     deep.
//
// Of several classes of one name the first one added counts, as in a class path.
// The image of a Java runtime (lib/modules) cannot be read: add jmods/*.jmod
// instead. Generated classes (lambdas, proxies) are in no file and are not found.
//
// # Hostile input
//
// Errors about contents are *[profile.FormatError] with offsets into the (decompressed) class file; errors of
// opening and reading files are the system's. No input makes the package panic or allocate more than a small
// multiple of its size: [Options].MaxExpansion bounds what an archive decompresses to.
package classfile
