// Who the gateway is at a cloud: what keys of its AI providers are made from.

export type CloudIdentity =
  | EntraIdentity
  | { readonly by: 'azure_machine'; readonly clientId: string | null; readonly scope: string }
  | ServiceAccount
  | { readonly by: 'google_machine' }

/** An application in Microsoft Entra, which proves itself by a secret or by the token of a workload. */
export interface EntraIdentity {
  readonly by: 'entra'
  readonly authority: string // the URL of the login service, without a trailing slash
  readonly tenant: string
  readonly clientId: string
  readonly proof:
    | { readonly secret: string } // secret
    | { readonly file: string } // the absolute path of a token that changes
  readonly scope: string
}

/** A service account of Google Cloud. */
export interface ServiceAccount {
  readonly by: 'service_account'
  readonly email: string
  readonly keyId: string | null
  readonly privateKey: string // PEM; secret
  readonly tokenUrl: string
}
