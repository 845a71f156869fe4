/** PKCS#12 files for tests. */
import { Der } from "@govoice/ksef/xades"

// Made by OpenSSL 3.0.19 for these tests alone, valid for a hundred years: an EC key with its certificate (key usage
// non-repudiation) and that of a CA, under the password "zażółć".
//   openssl pkcs12 -export -inkey ec.pem -in ec.crt -certfile ca.crt
export const file = Buffer.from(
  "MIIHfAIBAzCCBzIGCSqGSIb3DQEHAaCCByMEggcfMIIHGzCCBdIGCSqGSIb3DQEHBqCCBcMwggW/AgEAMIIFuAYJKoZIhvcNAQcBMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg82E8bMPo0OQICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEBUjJucW0A83WuA2fB+Icw+AggVQ4yfWfKcgWj7f3RCUQ85QfVM9VDuawJ0+CGItfaq4Dg727IYcA6fV0cUVfMFoGYMnUT1NbScjROeAuwrL2jBKvHlWAIU0qKd20mzuEHDhG2K4zaAQvnO6WmpokoAXMXwjgrQC3mTArCjdeqWvOt6y1NWt/iqYOfHeGjsF2i+Kx8Yqnl1CTt0Li628TEnQ8KvwAArBrTRulQAOFM/Gwfisb6QZCdbGdSwV3WkNY35Q7xAeoeOcuZHLNMz6Avf+AtGwCczVsTcORHjz0veeINR7GJLqzwpgv3VlsyqOVJXENoPBagK5LipqbsszmyZz9JTfShSzqpmf36RBoff3KzHOzCQbnTD2j5tedgkslIji+ptiMfkyjbHnAV78Yx73d8OH8ZrFn5n0LZ2kaE0MjW3/M0VbxB+fbQBhSj1tjU0DwSfpxrg7fSdiBl4e+2vPmH1ZingVaf63X7zupuh0ejD/9+Dq6qlHifHDA6hkX5pK5YXX0cm8puE8KMWydmLfhfyX17c5XdhKqrz4G2KEARm3i7tzbgAbbSgZAp5E74+khIsF5MFpHUB9JnB5R0AgPLhgrcvN91gzafh6yPibwHqCeHQWkeCUw7AzzpH8g1W4aUCITkg9aQB2Lvwf+9rhvdN3KG9uOHE6gUgheaEWldlO9BwKhiK3Ea+qGUK7Fv7ztr8IUiJ6KadBRaWCyyAjy9tknX5YcdJ8kzdESd+GI9s4o54i1bJez9Sqa0ujC1q3HfjOQcZP7LWE2TxmcFV7Pwosic8rs6jw6pwiQg3T8lrlePFvb1OoGALCnurPrMDRHhd6qjHzL/T22wCn+SibErtwrBk+ZkmAZIjtQR1F1s0DN4IYc7YmyVBezimAqzC/BEEXK5A0Qv+NKDgv9tlwOCWGhGDJvPVbBN/SzWshk4NIeGj938kJ7nOQPrpO2vKkXHlDNewteK7/tKhoQHcT5RFwNq3x9L3tkzG2chKZNWzO51G4+z9Ekgfg/oqSy+jTZ/ZghUKG5bcLF0yhEZZsvcaV9wjN9xs1DIafsarT0VC3gWWGe4x/fW8UequDhXuNhdfNg0GrZv1CibhFFOzE5Q90RCu+caW6bSGof7EiPNYi3HXRZDQJhGXkUD9A5k60uPT9GKef1MduufT+/zuiNcT1Dcy67pudOq9lUiZ9ODinNX3Jhtlk/u6h3OLocrva4GsAN3rrvxHeahsqAU58oOpPOIU3GDUc9N+uLsbWu6eByCrKjgxHZQgtOA6eqCb1vzmsVf+SseG+TV8n3NiUmvX88nsJ9m5FYH2fLldwrJVWwzqv1n/hvaykKl+zKPcBEIhaMgduu9u3SxEvWw8v/xIg3RQa/vzIibaFrjUkYsiSTamqLIlx/Gejdw4MCt9hfq/CvhFg1mpTf7CyjXTviORN147Svn6GEAVX2HQ2cxZ0RSfC6k+4bY5TWsR2Yvu927PobuaCjbP1IOxzGHOHQXifWw9+EYd8+a65MyrbFNaXEQ+Q7lhkHx1EG9l80hHd/u4aUAahFngqAS4GRErUXSLVMTwRmsIEVW8gWOKPPYy/nxK5jY7MIg0pE8FaIhjHIWzxRmJvs0A7lGjjOhwaa5iGe+YknTXkmNUVfc5qXc6/xgUCS9UgsFTublc9fNz9F1HSf5ADbt5S+g6Kxoi6hK/MBOKnJQT0o0hyLiV+gSTNT4I7EvuD/Q7o0r8fwBfet2kZhkNSIryZRMIJLplrAbGH6xTq0AjNHxRKrX3qWreW4s5Rd5H6HVpbrUD2RrBNCCknwEiZS7VrVB9bon4nRFP9+RvcD2l5KO/KwWRkBNUOaTCCAUEGCSqGSIb3DQEHAaCCATIEggEuMIIBKjCCASYGCyqGSIb3DQEMCgECoIHvMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgN7sn5HuXw3gICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEDeLAtsFxIayu5a726OVixYEgZDsqA8JuYCvFxzEiM35XN6oB4iF3vDV01Cfiuun7FyaAz7ilbhhVCQvBalr3f+2Rd53LrUhLFxjT9q/w1AuWEHXG6Pl+e1PoUecbXTvzatMhjHoZgjhRH7XUHyGONyZRzkNAAqgNHBFM7B53NEQ52ZXtN40c4AGwfuECT2xvGLyBAL/rfvn7v758hbI9ME4GScxJTAjBgkqhkiG9w0BCRUxFgQUCEdNCu+5jSNHR3LcBR9K8PnKD5YwQTAxMA0GCWCGSAFlAwQCAQUABCA4aCSH5q0eUyXYsr9n0kWh9J6zgEUSjh0O15N+fE/hZQQImww11+8U0tECAggA",
  "base64"
)

// The same with -legacy, under the password "pw": RC2 with 40 bits, which nothing opens any more.
export const legacy = Buffer.from(
  "MIIDwgIBAzCCA4gGCSqGSIb3DQEHAaCCA3kEggN1MIIDcTCCAmcGCSqGSIb3DQEHBqCCAlgwggJUAgEAMIICTQYJKoZIhvcNAQcBMBwGCiqGSIb3DQEMAQYwDgQIX6pzzZUqEokCAggAgIICIJLYWmFjzD3Jcwr0IO5Zwr5yvi5OF1bxRV0SwCTVId/YQldcOpRsnPO1W1TPxtZ8w/dYNYpeNWWZz7Rx6PX4XeE+W6rZo3rNPfRbCgZqi+Ccut6UKBvHl79VjWUokNiLef3nPpQExZiNU1X8oiwpgckb5Lk1yo+9UzKi8LTzjc7+eX4KT+KEvL+ceZJo2lh3gas8zPpKweFX26+GxrxBOhVdqQlYqIOqH2cw10TH/pkQlFpZSfQ5nyXID2fyc9KnN96VXIX7cSWd55IEc2k2hZunS+hjvtTATzbkdpCCmWgJF51ifxToVm+dacew5VAjtWgdmMiByWVGRiA8mfkQ1V/F/h8AkGMNORg8/4CEktEFPie+UXOke7GipUyj5iEVxS73dgbJUllJ0kIOzxlVrP0Y2tQLfxsGi7mcNXn6KNA2SN4iZHZYKc7jK3CrjneRHclemRNPxRA9JBmyy0Hwt0zhnJ0SfHL4Jai5BX7fZENugonGsLKCSXbDnd5Z8k3khwERWe70aom0Q1/nuvb2KNOtZV8Rim3E6EYaFbiowCFy3pC7MHruf3RXwiOTZiAjTTtoBZrmk1Mht9VyN0wwytxW+cFe35SISbCbZikqAy7ZCOhaEV1+i5ZKoUNlehGPC92/BatibKJt87g6gBA3x7867y0yq4MpaJGZpwmQWFQS/YAbw2p8hXqtDbtAbx6tcfl6lC8wZG5mKVio1RZExBMwggECBgkqhkiG9w0BBwGggfQEgfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIPHdu4IyozWoCAggABIGQ/OA6PXBAhy/wmbfWXtxMnTaZKV0diP0OpnIM12BdX2GShKsvuD0aq6WAguiKmh/773zF05NwhveN8GwfpmgiooFXnRlsSR/piNhFPCGwj1GUpMd/fHz0zqB6aYnENVS2i2LBXaubIJzgmQMEu49NE3wL9HfjdLkdkp/FV146IeOLEZTByP28JG2nYPGfrteDMSUwIwYJKoZIhvcNAQkVMRYEFAhHTQrvuY0jR0dy3AUfSvD5yg+WMDEwITAJBgUrDgMCGgUABBSP6CYOPtyyx044FsMyXYxHIqii6AQI2GXrPRug5YsCAggA",
  "base64"
)

const tlv = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer =>
  Der.write({ tag, content: Buffer.concat(parts) })
const sequence = (...parts: ReadonlyArray<Uint8Array>) => tlv(0x30, ...parts)
const identifier = (hex: string) => tlv(0x06, Buffer.from(hex, "hex"))
const integer = (value: number) => tlv(0x02, Buffer.from(value.toString(16).padStart(8, "0"), "hex"))

/** A file of encrypted parts that take so many iterations each, and that nothing decrypts. */
export const encryptedParts = (iterations: ReadonlyArray<number>): Buffer => {
  const part = (count: number) => {
    const derivation = sequence(identifier("2a864886f70d01050c"), sequence(tlv(0x04, Buffer.alloc(8)), integer(count)))
    const cipher = sequence(identifier("60864801650304012a"), tlv(0x04, Buffer.alloc(16)))
    const algorithm = sequence(identifier("2a864886f70d01050d"), sequence(derivation, cipher))
    const content = sequence(identifier("2a864886f70d010701"), algorithm, tlv(0x80, Buffer.alloc(32)))
    return sequence(identifier("2a864886f70d010706"), tlv(0xa0, sequence(integer(0), content)))
  }
  const safes = tlv(0x04, sequence(...iterations.map(part)))
  return sequence(integer(3), sequence(identifier("2a864886f70d010701"), tlv(0xa0, safes)))
}
