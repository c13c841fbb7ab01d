// Who the gateway is at a cloud: what keys of its AI providers are made from.

export type CloudIdentity =
  | EntraIdentity
  | { readonly by: 'azure_machine'; readonly clientId: string | null; readonly scope: string }
  | ServiceAccount
  | { readonly by: 'google_machine' }
  | AwsKeys
  | AwsRole
  | { readonly by: 'aws_machine'; readonly region: string }

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

/** An access key of AWS, lasting or of a session. */
interface AwsKeys {
  readonly by: 'aws_keys'
  readonly accessKeyId: string
  readonly secretAccessKey: string // secret
  readonly sessionToken: string | null // secret
}

/** A role of AWS that a workload assumes by its token. */
interface AwsRole {
  readonly by: 'aws_role'
  readonly roleArn: string
  readonly file: string // the absolute path of a token that changes
  readonly url: string | null // of the service that gives credentials; null: that of the region
  readonly region: string
}

/** A service account of Google Cloud. */
export interface ServiceAccount {
  readonly by: 'service_account'
  readonly email: string
  readonly keyId: string | null
  readonly privateKey: string // PEM; secret
  readonly tokenUrl: string
}
