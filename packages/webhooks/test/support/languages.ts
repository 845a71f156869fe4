/**
 * Runs the functions of the guide for other languages. Each reads lines of fields, separated by tabs, in base64 except
 * for numbers, and prints `true` or `false` for each line, so that no language needs a JSON parser.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Language {
  readonly name: string
  /** The language of the code fence in the guide. */
  readonly fence: string
  readonly installed: () => boolean
  readonly how: string
  /** Runs the function over lines. `folder` is an empty scratch directory. */
  readonly run: (code: string, lines: string, folder: string) => string
}

const has = (...command: [string, ...Array<string>]) => {
  try {
    execFileSync(command[0], command.slice(1), { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const runFile = (folder: string, name: string, text: string, lines: string, ...command: [string, ...Array<string>]) => {
  writeFileSync(join(folder, name), text)
  return execFileSync(command[0], command.slice(1), { cwd: folder, input: lines, encoding: "utf8" })
}

/** Separates the imports from the rest, because imports must be at the top of the file. */
const parted = (code: string, imports: RegExp) => ({
  imports: (code.match(imports) ?? []).join("\n"),
  rest: code.replaceAll(imports, "")
})

const python = `
import base64, sys
text = lambda field: base64.b64decode(field).decode()
for line in sys.stdin.read().splitlines():
    secrets, timestamp, signature, body, now, tolerance = line.split("\\t")
    headers = {"gov-timestamp": text(timestamp), "gov-signature": text(signature)}
    fits = verify(text(secrets).split("\\n"), headers, base64.b64decode(body), float(now), float(tolerance))
    print(str(fits).lower())
`

const php = `
foreach (explode("\\n", trim(stream_get_contents(STDIN))) as $line) {
    [$secrets, $timestamp, $signature, $body, $now, $tolerance] = explode("\\t", $line);
    $headers = ['gov-timestamp' => base64_decode($timestamp), 'gov-signature' => base64_decode($signature)];
    $secrets = explode("\\n", base64_decode($secrets));
    echo verify($secrets, $headers, base64_decode($body), (float) $now, (float) $tolerance) ? "true\\n" : "false\\n";
}
`

const go = `
func main() {
	input, _ := io.ReadAll(os.Stdin)
	decode := func(field string) []byte { bytes, _ := base64.StdEncoding.DecodeString(field); return bytes }
	for _, line := range strings.Split(strings.TrimSuffix(string(input), "\\n"), "\\n") {
		fields := strings.Split(line, "\\t")
		now, _ := strconv.ParseInt(fields[4], 10, 64)
		tolerance, _ := strconv.ParseInt(fields[5], 10, 64)
		headers := map[string]string{"gov-timestamp": string(decode(fields[1])), "gov-signature": string(decode(fields[2]))}
		secrets := strings.Split(string(decode(fields[0])), "\\n")
		fmt.Println(Verify(secrets, headers, decode(fields[3]), time.UnixMilli(now), time.Duration(tolerance)*time.Second))
	}
}
`

const java = `
  static byte[] decode(String field) { return Base64.getDecoder().decode(field); }
  static String text(String field) { return new String(decode(field), StandardCharsets.UTF_8); }
  public static void main(String[] args) throws Exception {
    for (String line : new String(System.in.readAllBytes(), StandardCharsets.UTF_8).split("\\n")) {
      String[] fields = line.split("\\t", -1);
      Map<String, String> headers = Map.of("gov-timestamp", text(fields[1]), "gov-signature", text(fields[2]));
      Instant now = Instant.ofEpochMilli(Long.parseLong(fields[4]));
      Duration tolerance = Duration.ofSeconds(Long.parseLong(fields[5]));
      System.out.println(verify(List.of(text(fields[0]).split("\\n")), headers, decode(fields[3]), now, tolerance));
    }
  }
`

const csharp = `
    static string Text(string field) { return Encoding.UTF8.GetString(Convert.FromBase64String(field)); }
    static void Main()
    {
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            var fields = line.Split('\\t');
            var headers = new Dictionary<string, string> { { "gov-timestamp", Text(fields[1]) }, { "gov-signature", Text(fields[2]) } };
            var now = DateTimeOffset.FromUnixTimeMilliseconds(long.Parse(fields[4]));
            var tolerance = TimeSpan.FromSeconds(long.Parse(fields[5]));
            var fits = Verify(Text(fields[0]).Split('\\n'), headers, Convert.FromBase64String(fields[3]), now, tolerance);
            Console.WriteLine(fits ? "true" : "false");
        }
    }
`

export const languages: ReadonlyArray<Language> = [
  {
    name: "Python",
    fence: "python",
    installed: () => has("python3", "-c", "import sys; assert sys.version_info >= (3, 11)"),
    how: "apt-get install python3",
    run: (code, lines, folder) => runFile(folder, "main.py", code + python, lines, "python3", "main.py")
  },
  {
    name: "PHP",
    fence: "php",
    installed: () => has("php", "--version"),
    how: "apt-get install php-cli",
    run: (code, lines, folder) => runFile(folder, "main.php", `<?php\n${code}${php}`, lines, "php", "main.php")
  },
  {
    name: "Go",
    fence: "go",
    installed: () => has("go", "version"),
    how: "apt-get install golang-go",
    run: (code, lines, folder) => {
      const more = ["encoding/base64", "fmt", "io", "os", "strconv"].map((name) => `import "${name}"`).join("\n")
      return runFile(folder, "main.go", `package main\n${more}\n${code}${go}`, lines, "go", "run", "main.go")
    }
  },
  {
    name: "Java",
    fence: "java",
    installed: () => has("java", "--version"),
    how: "apt-get install openjdk-17-jdk-headless",
    run: (code, lines, folder) => {
      const { imports, rest } = parted(code, /^import .*;$/gm)
      return runFile(folder, "Main.java", `${imports}\nclass Main {\n${rest}${java}}\n`, lines, "java", "Main.java")
    }
  },
  {
    name: "C#",
    fence: "csharp",
    installed: () => has("dotnet", "--version") || (has("mcs", "--version") && has("mono", "--version")),
    how: "the .NET SDK, or apt-get install mono-mcs",
    run: (code, lines, folder) => {
      const { imports, rest } = parted(code, /^using [\w.]+;$/gm)
      const text = `${imports}\nstatic class Program\n{\n${rest}${csharp}}\n`
      if (has("mcs", "--version")) {
        writeFileSync(join(folder, "Program.cs"), text)
        execFileSync("mcs", ["Program.cs"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
        return execFileSync("mono", ["Program.exe"], { cwd: folder, input: lines, encoding: "utf8" })
      }
      mkdirSync(join(folder, "home"))
      writeFileSync(
        join(folder, "program.csproj"),
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>'
      )
      return runFile(folder, "Program.cs", text, lines, "dotnet", "run")
    }
  }
]
