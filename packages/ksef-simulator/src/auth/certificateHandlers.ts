/**
 * `/certificates`: requests for certificates of who is logged in, in whatever context, and the certificates.
 */
import { X509Certificate } from "node:crypto"
import { type AuthorizedCall, authorized, type Handler } from "../http/Call.ts"
import { listPage } from "../http/pages.ts"
import { badRequest, empty, forbidden, json } from "../http/Reply.ts"
import { lifetime } from "../keys/Authority.ts"
import type { OperationName } from "../openapi/operations.ts"
import type { Enrollment, Login } from "../state/records.ts"
import { timestamp } from "../time/timestamps.ts"
import { certificateLimitsOf, enrollmentsOf, readRequest, statusOf, subjectOf } from "./enrollments.ts"

/** What somebody has left of its limits. */
const remaining = ({ login, now, simulation }: AuthorizedCall) => {
  const own = enrollmentsOf(simulation, login.subject)
  const limits = certificateLimitsOf(login.subject)
  const valid = own.filter((one) => statusOf(one, now) === "Active").length
  return {
    limits,
    enrollments: Math.max(0, limits.enrollments - own.length),
    certificates: Math.max(0, limits.certificates - valid)
  }
}

const getLimits = authorized((call) => {
  const { certificates, enrollments, limits } = remaining(call)
  return json(200, {
    canRequest: isByCertificate(call.login) && certificates > 0 && enrollments > 0,
    enrollment: { remaining: enrollments, limit: limits.enrollments },
    certificate: { remaining: certificates, limit: limits.certificates }
  })
})

const isByCertificate = ({ certificate }: Login): boolean => typeof certificate === "string"

const getData = authorized(({ login }) => {
  if (!isByCertificate(login)) throw badRequest(25001)
  const { country = "PL", organization, ...subject } = subjectOf(login.certificate!)
  return json(200, {
    ...subject,
    countryName: country,
    ...(organization === undefined ? {} : { organizationName: organization })
  })
})

interface EnrollBody {
  readonly certificateName: string
  readonly certificateType: Enrollment["type"]
  readonly csr: string
  readonly validFrom?: string | null
}

const enroll = authorized((call) => {
  const { body, login, now, simulation } = call
  const { certificateName, certificateType, csr, validFrom } = body as EnrollBody
  if (!isByCertificate(login)) throw badRequest(25002)
  const subject = subjectOf(login.certificate!)
  const publicKey = readRequest(Buffer.from(csr, "base64"), subject)
  const left = remaining(call)
  if (left.enrollments === 0) throw badRequest(25006)
  if (left.certificates === 0) throw badRequest(25007)
  const from = validFrom == null ? now : Date.parse(validFrom)
  const { serialNumber } = simulation.authority.issueFor({
    subject,
    publicKey,
    kind: certificateType === "Authentication" ? "authentication" : "offline",
    validFrom: from,
    validTo: from + lifetime
  })
  const reference = simulation.state.serials.reference("enrollment", now)
  simulation.state.enrollments.set(serialNumber, {
    reference,
    serialNumber,
    subject: login.subject,
    commonName: subject.commonName ?? "",
    name: certificateName,
    type: certificateType,
    requestedAt: now,
    issuedAt: now + simulation.clock.scaled(simulation.options.processingMs),
    validFrom: from,
    validTo: from + lifetime,
    revoked: false
  })
  return json(202, { referenceNumber: reference, timestamp: timestamp(now) })
})

const getEnrollment = authorized(({ login, now, path, simulation }) => {
  const found = enrollmentsOf(simulation, login.subject).find(({ reference }) => reference === path["referenceNumber"])
  if (found === undefined) throw badRequest(25005)
  const isIssued = now >= found.issuedAt
  return json(200, {
    requestDate: timestamp(found.requestedAt),
    status: isIssued
      ? { code: 200, description: "Wniosek obsłużony (certyfikat wygenerowany)" }
      : { code: 100, description: "Wniosek przyjęty do realizacji" },
    ...(isIssued ? { certificateSerialNumber: found.serialNumber } : {})
  })
})

/** The certificates of who is logged in that were issued so far. */
const issued = ({ login, now, simulation }: AuthorizedCall): ReadonlyArray<Enrollment> =>
  enrollmentsOf(simulation, login.subject).filter(({ issuedAt }) => now >= issuedAt)

const retrieve = authorized((call) => {
  const { certificateSerialNumbers: wanted } = call.body as { readonly certificateSerialNumbers: ReadonlyArray<string> }
  const certificates = issued(call).filter(({ serialNumber }) => wanted.includes(serialNumber))
  return json(200, {
    certificates: certificates.map(({ name, serialNumber, type }) => ({
      certificate: new X509Certificate(call.simulation.state.certificates.get(serialNumber)!).raw.toString("base64"),
      certificateName: name,
      certificateSerialNumber: serialNumber,
      certificateType: type
    }))
  })
})

const revoke = authorized((call) => {
  const { login, now, path, simulation } = call
  if (login.method === "token") {
    throw forbidden("auth-method-not-allowed", "Ta operacja nie jest dostępna dla użytej metody uwierzytelnienia.", {
      authenticationMethodCategory: "Token"
    })
  }
  const found = issued(call).find(({ serialNumber }) => serialNumber === path["certificateSerialNumber"])
  if (found === undefined) throw badRequest(25008)
  if (statusOf(found, now) !== "Active") throw badRequest(25009)
  simulation.state.enrollments.update(found.serialNumber, { revoked: true })
  return empty(204)
})

interface QueryBody {
  readonly certificateSerialNumber?: string | null
  readonly name?: string | null
  readonly type?: string | null
  readonly status?: string | null
  readonly expiresAfter?: string | null
}

const list = authorized((call) => {
  const { certificateSerialNumber, expiresAfter, name, status, type } = (call.body ?? {}) as QueryBody
  const wanted = issued(call).filter(
    (one) =>
      (certificateSerialNumber ?? one.serialNumber) === one.serialNumber &&
      one.name.includes(name ?? "") &&
      (type ?? one.type) === one.type &&
      (status ?? statusOf(one, call.now)) === statusOf(one, call.now) &&
      (expiresAfter == null || one.validTo > Date.parse(expiresAfter))
  )
  const { hasMore, items } = listPage(wanted, call.query)
  const certificates = items.map((one) => ({
    certificateSerialNumber: one.serialNumber,
    name: one.name,
    type: one.type,
    commonName: one.commonName,
    status: statusOf(one, call.now),
    subjectIdentifier: one.subject,
    validFrom: timestamp(one.validFrom),
    validTo: timestamp(one.validTo),
    requestDate: timestamp(one.requestedAt)
  }))
  return json(200, { certificates, hasMore })
})

/** The handlers of certificates. */
export const certificateHandlers = {
  getCertificateLimits: getLimits,
  getEnrollmentData: getData,
  enrollCertificate: enroll,
  getEnrollment,
  retrieveCertificates: retrieve,
  revokeCertificate: revoke,
  queryCertificates: list
} as const satisfies Partial<Record<OperationName, Handler>>
