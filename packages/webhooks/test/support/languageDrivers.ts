/** The main programs that run the functions of the guide over lines; see `languages.ts`. */

export const python = `
import base64, sys
decode = base64.b64decode
text = lambda field: decode(field).decode()
for line in sys.stdin.read().splitlines():
    secrets, headers, body, now, tolerance = line.split("\\t")
    secrets = [text(secret) for secret in secrets.split(",")] if secrets else []
    headers = [[text(part) for part in header.split(":")] for header in headers.split(",") if header]
    try:
        print(str(verify(secrets, headers, decode(body), float(now), float(tolerance)) is not None).lower())
    except ValueError:
        print("false")
`

export const php = `
foreach (explode("\\n", trim(stream_get_contents(STDIN))) as $line) {
    [$secrets, $pairs, $body, $now, $tolerance] = explode("\\t", $line);
    $headers = [];
    foreach (array_filter(explode(',', $pairs)) as $pair) {
        [$name, $value] = array_map('base64_decode', explode(':', $pair));
        $headers[$name][] = $value;
    }
    $secrets = $secrets === '' ? [] : array_map('base64_decode', explode(',', $secrets));
    try {
        $event = verify($secrets, $headers, base64_decode($body), (float) $now, (float) $tolerance);
        echo $event === null ? "false\\n" : "true\\n";
    } catch (InvalidArgumentException) {
        echo "false\\n";
    }
}
`

export const go = `
func main() {
	input, _ := io.ReadAll(os.Stdin)
	decode := func(field string) []byte { bytes, _ := base64.StdEncoding.DecodeString(field); return bytes }
	for _, line := range strings.Split(strings.TrimSuffix(string(input), "\\n"), "\\n") {
		fields := strings.Split(line, "\\t")
		now, _ := strconv.ParseInt(fields[3], 10, 64)
		tolerance, _ := strconv.ParseInt(fields[4], 10, 64)
		header := http.Header{}
		for _, pair := range strings.Split(fields[1], ",") {
			if name, value, found := strings.Cut(pair, ":"); found {
				header.Add(string(decode(name)), string(decode(value)))
			}
		}
		secrets := []string{}
		for _, secret := range strings.Split(fields[0], ",") {
			secrets = append(secrets, string(decode(secret)))
		}
		_, err := Verify(secrets, header, decode(fields[2]), time.UnixMilli(now), time.Duration(tolerance)*time.Second)
		fmt.Println(err == nil)
	}
}
`

export const ruby = `
text = ->(field) { field.unpack1("m").force_encoding("UTF-8") }
STDIN.each_line(chomp: true) do |line|
  secrets, headers, body, now, tolerance = line.split("\\t")
  headers = headers.split(",").map { |pair| pair.split(":", 2).map(&text) }
  at = Time.at(now.to_i / 1000, now.to_i % 1000, :millisecond)
  begin
    puts !verify(secrets.split(",", -1).map(&text), headers, body.to_s.unpack1("m"), at, tolerance.to_i).nil?
  rescue ArgumentError
    puts false
  end
end
`

export const java = `
  static byte[] decode(String field) { return Base64.getDecoder().decode(field); }
  static String text(String field) { return new String(decode(field), StandardCharsets.UTF_8); }
  public static void main(String[] args) throws Exception {
    for (String line : new String(System.in.readAllBytes(), StandardCharsets.UTF_8).split("\\n")) {
      String[] fields = line.split("\\t", -1);
      List<String> secrets = fields[0].isEmpty() ? List.of() : Arrays.stream(fields[0].split(",", -1)).map(Main::text).toList();
      Map<String, List<String>> headers = new HashMap<>();
      for (String pair : fields[1].isEmpty() ? new String[0] : fields[1].split(",")) {
        String[] parts = pair.split(":", -1);
        headers.computeIfAbsent(text(parts[0]), name -> new ArrayList<>()).add(text(parts[1]));
      }
      Instant now = Instant.ofEpochMilli(Long.parseLong(fields[3]));
      Duration tolerance = Duration.ofSeconds(Long.parseLong(fields[4]));
      try {
        System.out.println(verify(secrets, headers, decode(fields[2]), now, tolerance).isPresent());
      } catch (IllegalArgumentException badSecret) {
        System.out.println(false);
      }
    }
  }
`

export const csharp = `
    static string Text(string field) { return Encoding.UTF8.GetString(Convert.FromBase64String(field)); }
    static string IdOf(string text)
    {
        // The reader of Mono accepts a document that is cut off.
        if (!text.TrimEnd().EndsWith("}")) return null;
        try
        {
            var bytes = Encoding.UTF8.GetBytes(text);
            var reader = JsonReaderWriterFactory.CreateJsonReader(bytes, new System.Xml.XmlDictionaryReaderQuotas());
            var document = new System.Xml.XmlDocument();
            document.Load(reader);
            var id = document.DocumentElement == null ? null : document.DocumentElement["id"];
            return id == null ? null : id.InnerText;
        }
        catch (System.Xml.XmlException) { return null; }
    }
    static void Main()
    {
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            var fields = line.Split('\\t');
            var secrets = fields[0] == "" ? new string[0] : fields[0].Split(',').Select(Text).ToArray();
            var headers = fields[1].Split(',').Where(pair => pair != "").Select(pair => pair.Split(':'))
                .Select(parts => new KeyValuePair<string, string>(Text(parts[0]), Text(parts[1])));
            var now = DateTimeOffset.FromUnixTimeMilliseconds(long.Parse(fields[3]));
            var tolerance = TimeSpan.FromSeconds(long.Parse(fields[4]));
            try
            {
                Console.WriteLine(Verify(secrets, headers, Convert.FromBase64String(fields[2]), now, tolerance, IdOf) ? "true" : "false");
            }
            catch (ArgumentException) { Console.WriteLine("false"); }
        }
    }
`

// The standard library of Rust has no base64.
export const rust = `
fn decode(field: &str) -> Vec<u8> {
    let digit = |b: u8| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|d| *d == b);
    let bits = field.bytes().filter_map(digit).collect::<Vec<_>>();
    bits.chunks(4)
        .flat_map(|four| {
            let word = four.iter().enumerate().fold(0, |word, (i, bits)| word | bits << (18 - 6 * i));
            [(word >> 16) as u8, (word >> 8) as u8, word as u8].into_iter().take(four.len() - 1)
        })
        .collect()
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    for line in std::io::stdin().lines().map(Result::unwrap) {
        let fields = line.split('\\t').collect::<Vec<_>>();
        let text = |field: &str| String::from_utf8(decode(field)).unwrap();
        let secrets = if fields[0].is_empty() { vec![] } else { fields[0].split(',').map(text).collect::<Vec<_>>() };
        let headers = fields[1].split(',').filter_map(|pair| pair.split_once(':')).map(|(n, v)| (text(n), text(v))).collect::<Vec<_>>();
        let pairs = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<Vec<_>>();
        let secrets = secrets.iter().map(String::as_str).collect::<Vec<_>>();
        let (body, now, tolerance) = (decode(fields[2]), fields[3].parse().unwrap(), fields[4].parse().unwrap());
        let event = std::panic::catch_unwind(|| verify(&secrets, &pairs, &body, now, tolerance));
        println!("{}", matches!(event, Ok(Some(_))));
    }
}
`

export const elixir = `
decode =
  if Code.ensure_loaded?(JSON),
    do: &apply(JSON, :decode, [&1]),
    else: fn text ->
      try do
        {:ok, apply(:jiffy, :decode, [text, [:return_maps]])}
      catch
        _, _ -> :error
      end
    end

for line <- IO.stream(:stdio, :line) do
  [secrets, headers, body, now, tolerance] = line |> String.trim_trailing("\\n") |> String.split("\\t")
  text = &Base.decode64!/1
  secrets = if secrets == "", do: [], else: secrets |> String.split(",") |> Enum.map(text)
  headers = for pair <- String.split(headers, ",", trim: true), [name, value] = String.split(pair, ":"), do: {text.(name), text.(value)}
  now = now |> String.to_integer() |> DateTime.from_unix!(:millisecond)

  result =
    try do
      Webhooks.verify(secrets, headers, text.(body), now, String.to_integer(tolerance), decode)
    rescue
      ArgumentError -> :error
    end

  IO.puts(match?({:ok, _}, result))
end
`
