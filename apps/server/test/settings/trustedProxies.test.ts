import { assert, describe, it } from "@effect/vitest"
import { broadNetworks } from "../../src/settings/trustedProxies.ts"

describe("broadNetworks", () => {
  it("finds networks that contain clients", () => {
    const broad = ["0.0.0.0/0", "::/0", "0.0.0.0/1", "128.0.0.0/1", "8.0.0.0/8", "34.0.0.0/7", "2000::/3", "2600::/12"]
    assert.deepStrictEqual(broadNetworks(broad), broad)
  })

  it("accepts private networks, and the public networks of proxies", () => {
    const narrow = [
      "10.0.0.0/8",
      "127.0.0.0/8",
      "172.16.0.0/12",
      "192.168.0.0/16",
      "fc00::/7",
      "fe80::/10",
      "104.16.0.0/13",
      "2606:4700::/32",
      "8.8.8.8",
      "8.8.8.8/32",
      "2001:4860:4860::8888"
    ]
    assert.deepStrictEqual(broadNetworks(narrow), [])
  })
})
