// Package classfile reads Java class files as far as a profile needs them:
// which methods a class has, and which source line a bytecode index belongs
// to.
//
//	x := classfile.NewIndex(classfile.Options{})
//	err := x.Add("app.jar")               // or a folder, a .jmod, a .class file
//	m, ok := x.Method("java.util.HashMap", "get", []string{"java.lang.Object"}, "java.lang.Object")
//	line, ok := m.Line(17)
//
// Types go by the names that Class.getName returns, as in iprof profiles: int,
// a.B$C, [I, [Ljava.lang.String;. [Parse] reads a single class file.
//
// # What is read
//
// Class files of every version from 45 up; [NewestMajor] is the newest that was
// checked. Of their attributes SourceFile, Code and LineNumberTable are read
// and all others passed over, also unknown ones, so that newer versions are
// read, too, unless they bring constants of a new kind.
//
// Folders are read with everything below them: class files and archives.
// Links to folders are not followed. Archives are zip files of any name (.jar,
// .war, .zip) and .jmod files. In an archive the path of a class file does not
// matter, since the class says its name, with two exceptions:
//
//   - Of multi-release jars (Multi-Release: true in the manifest) the class of
//     the newest release under META-INF/versions stands, or of the newest not
//     above [Options].Release. Without the manifest's word these are passed
//     over, as the virtual machine does.
//   - Archives in archives are read under BOOT-INF/lib/ and WEB-INF/lib/, one
//     level deep.
//
// Of several classes of one name the first added stands, as in a class path.
// The image of a Java runtime (lib/modules) is not read: add jmods/*.jmod.
// Generated classes (lambdas, proxies) are in no file and so never found.
//
// # Hostile input
//
// Errors about contents are *[profile.FormatError] with offsets into the
// (decompressed) class file; those of opening and reading files are the
// system's. No input makes the package panic, and none makes it allocate more
// than a small multiple of its size: what archives decompress to is bounded by
// their own size and [Options].MaxExpansion.
package classfile
