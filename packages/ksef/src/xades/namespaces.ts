/** The namespaces of XML signatures and of XAdES 1.3.2. */
export const ds = "http://www.w3.org/2000/09/xmldsig#"
export const xades = "http://uri.etsi.org/01903/v1.3.2#"
