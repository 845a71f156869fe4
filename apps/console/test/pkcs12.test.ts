/**
 * The files were made by OpenSSL 3, of a key that serves nothing else: with its defaults, with `-legacy`, and without encryption.
 */
import { createPrivateKey, X509Certificate } from "node:crypto"
import { assert, describe, it } from "vitest"
import { Pkcs12Error, readPkcs12 } from "../src/screens/live/Pkcs12.ts"

const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"))

const password = "zażółć"

const modern = bytes(
  "MIIEDAIBAzCCA8IGCSqGSIb3DQEHAaCCA7MEggOvMIIDqzCCAmIGCSqGSIb3DQEHBqCCAlMwggJPAgEAMIICSAYJKoZIhvcNAQcBMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiSmirMZdAOmQICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEK8gJU1g/42O26bO8X1jITuAggHgFCYM8ne+Ptd4YQKFnSU7lJpKZ4nYZSBU+ZsvVU+sOowgwO4VuCSqXFkXvTnlApOVAqQYrsOH9xJXQet+meL+tnLovHFXvDn8EQ1jrA/bMSWjRwSREq8LxwzBtcKxzzx5b36qhRbAd9EVk5X79oPUiVl+W6uHA3QowFhmw0w5HqwrpIXhs6bWWxPq6aNACdSLQ8NL3L9ybdifdFHT52vkpUIv3xZup7m5wVjVmntEdVVAWCJLT5tJZiMeilCoh3Dpp/IIF187GAxQFhGB7zadvwnOv4l4qlB00JTdJP7YEJyu9Vl+e1hQGhRw/daDw63DcDU6Lv09rdeZuGR1DdR3ACWb1oZ04iyA6FWbqrxu1BG8/aF3gYIjreCJ06/M2REqeq9IDUXcsry6+Z59qiOLcAuqMi14c+ZsyL4Y/LU3e0doz+I6vk3HbrXuGz2wBYlpvXhLFv71tXaPC0Bb7/uUOYhvzBeEedWyZ5S019WErRmINjT1ky68tveP5nI5D41lpS/frU+r/P141iyEpaxgrMYjj6q77gLyZGw+jTiPtQMHh9YWbz73l2WkEIvHXZvNT2zC6otdQytTHtVQyCb/4mSlHjq9tMl9vAgKKj7wTpnpuuuNSYqsD1UNY9s19Ed+MIIBQQYJKoZIhvcNAQcBoIIBMgSCAS4wggEqMIIBJgYLKoZIhvcNAQwKAQKgge8wgewwVwYJKoZIhvcNAQUNMEowKQYJKoZIhvcNAQUMMBwECJdyEBwChhYeAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQQOHmHVG2HTCLSdZqvehGrASBkLG3L3vYyv9ojJQ0LhjPYtLRh9AiXGZdHvH9fwDgqc7irCiJl/LcXpVfPFsfx0TRKr1+y6nJXYKF/gsotp7kAasbDRByxCfj5xLI2VlU0ZY/UJp8zOcRcOZRPH6jCqMzbEQf39xG1K8AgvkWuCO9cBz+hPQd0EOMgbJHDj/g5kK4v4pCS0Uq3+peVqeXVqTsbzElMCMGCSqGSIb3DQEJFTEWBBSzDkZbqlKgTz5A4Ymkp7WxD+mJnTBBMDEwDQYJYIZIAWUDBAIBBQAEIB8dPAeQuhQCHGvt5pT+4HGu9LI7mWGZiGzNAEzW+5WQBAg/W1kzxtVatAICCAA="
)

const legacy = bytes(
  "MIIDegIBAzCCA0AGCSqGSIb3DQEHAaCCAzEEggMtMIIDKTCCAh8GCSqGSIb3DQEHBqCCAhAwggIMAgEAMIICBQYJKoZIhvcNAQcBMBwGCiqGSIb3DQEMAQYwDgQIrD1ukfaLxaoCAggAgIIB2FoQqDXuxoU+P0L9Y0lvxk5sIF6xfefzofov3hcLK0Gf/i4d7jnewZRdZXf9FSvUkvPC5NUqbG+NUX/EhDRuJU/5uM1UpNKwVVkYOYaUWVny/YGGBlk4LZEzvJn1egXcEESHJlVt/Gyb9248il/iELLCQ4Ik2Y/ackEuvPi+raZ2/GG7GE2UbhMbAVpIDONEtY4gy12nuX11UesOsKM0WGLIBTxhDh86t11Qu3R561xxCZs6qSZi0Xml5PcaSkFzf415ZyA98G3NBR78hVvHYIZWuzFwyzMCPER3V7qNvdo9H/U9QWJicfMTUiKnJbmSXRqVIuVTbsoT+fbnpTOKLg3SefzSUxbZjZcLrftZMgoWNqqcCrCJjxgMNhCeg5lSaf56T3/e7NKLO4xXVr5p8Tq+1BXcrzvgGoVCXrgYXOdAnGl9hz8H1AyahSnULwZmje/XPwIMXcEsXHlBPccDxWqVRGOP0KbmK/FN2qzfMAQGTN1GGt07MDeFdeqb6Un+Rq6emmu6P+WSOcotxidPHyTEgPkSKU4LAXBrY1rhwk8VK22cwa4kWAvl6mSzMV7lnq9fltXK2XsVSq/Ia+RJbvjFciFH40gEmqEZ4PCSN4YJr8RoRjO/cBEwggECBgkqhkiG9w0BBwGggfQEgfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIs0Zbx4tiwEoCAggABIGQtpenSD+AF55Fh2b5nmRclrsAPyWzzj8y3akMQ4UMOFDVexI/0+PExJfT/RhUUmoIdqfB45jVNrsMLAqSzD94fU+pfz7nHczbIaMQYBcGqsgBsKoiXsUUKr7U6QvVOlReSzENzWIfYrz/4DacccqvD6gBoyedWjtCYzZc5YvChrtTGbkyXaq2yNK5UGIORv5GMSUwIwYJKoZIhvcNAQkVMRYEFLMORluqUqBPPkDhiaSntbEP6YmdMDEwITAJBgUrDgMCGgUABBQWfDafbglSn0UpDIKPOZYYSPvVagQIdOyIU/ieO2sCAggA"
)

const plain = bytes(
  "MIIDJQIBAzCCAtsGCSqGSIb3DQEHAaCCAswEggLIMIICxDCCAeUGCSqGSIb3DQEHAaCCAdYEggHSMIIBzjCCAcoGCyqGSIb3DQEMCgEDoIIBkjCCAY4GCiqGSIb3DQEJFgGgggF+BIIBejCCAXYwggEboAMCAQICFDHUTwPiBj5AIQtC8b0nYNtGWkJgMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBFRlc3QwIBcNMjYxMTI2MTU1MzAzWhgPMjEyNjExMDIxNTUzMDNaMA8xDTALBgNVBAMMBFRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARBYJE3SocblGI4djhQFOOPtPp8K2HyMMYPhZcB9a8aRnwPcdu360riNNy2DcsUj0bv5QC2oh0eJ352BxyMahYGo1MwUTAdBgNVHQ4EFgQUZd8o+Rr94njQtW8sZLRHmduQwkQwHwYDVR0jBBgwFoAUZd8o+Rr94njQtW8sZLRHmduQwkQwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA7cTYrIpst15GPIfPHPNmh5N7Nzq2iCH7KLJ7mot3IEgCIQDlVHULDjFYHE1p1qFq0/Jsytv9yVyDtvllInlT+zuT6DElMCMGCSqGSIb3DQEJFTEWBBSzDkZbqlKgTz5A4Ymkp7WxD+mJnTCB2AYJKoZIhvcNAQcBoIHKBIHHMIHEMIHBBgsqhkiG9w0BDAoBAaCBijCBhwIBADATBgcqhkjOPQIBBggqhkjOPQMBBwRtMGsCAQEEIHvcSU5TRMSUhhsekuTs1uOx0bHfSD5GcwHLp0dLvL5RoUQDQgAEQWCRN0qHG5RiOHY4UBTjj7T6fCth8jDGD4WXAfWvGkZ8D3Hbt+tK4jTctg3LFI9G7+UAtqIdHid+dgccjGoWBjElMCMGCSqGSIb3DQEJFTEWBBSzDkZbqlKgTz5A4Ymkp7WxD+mJnTBBMDEwDQYJYIZIAWUDBAIBBQAEIHDr2GBexuIRqPQ5lghlQNi4MudPTXYhl9tJCSb4Nk42BAjLe1BN0qPb+gICCAA="
)

const reasonOf = async (file: Uint8Array<ArrayBuffer>, given = password) => {
  try {
    await readPkcs12(file, given)
    return undefined
  } catch (error) {
    assert.instanceOf(error, Pkcs12Error)
    return error.reason
  }
}

describe("a file in PKCS#12", () => {
  it.each([
    ["encrypted", modern, /BEGIN ENCRYPTED PRIVATE KEY/],
    ["not encrypted", plain, /BEGIN PRIVATE KEY/]
  ])("that is %s has a certificate and its key", async (_, file, form) => {
    const { certificate, privateKey } = await readPkcs12(file, password)
    assert.match(privateKey, form)
    assert.isTrue(
      new X509Certificate(certificate).checkPrivateKey(createPrivateKey({ key: privateKey, passphrase: password }))
    )
  })

  it("is refused with a wrong password, and with an encryption that browsers do not have", async () => {
    assert.strictEqual(await reasonOf(modern, "x"), "wrong-password")
    assert.strictEqual(await reasonOf(legacy, "x"), "old-encryption")
  })

  it("is unreadable wherever it is cut, and as another file", async () => {
    for (let length = 0; length < plain.length; length += 7)
      assert.include(["unreadable", "incomplete"], await reasonOf(plain.slice(0, length)))
    assert.strictEqual(await reasonOf(bytes("MAA=")), "unreadable")
    assert.strictEqual(await reasonOf(new TextEncoder().encode("-----BEGIN CERTIFICATE-----")), "unreadable")
  })
})
