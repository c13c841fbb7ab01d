// The part of acme-client in use here; its own types would pull in those of axios.

declare module 'acme-client' {
  interface AcmeRequest {
    readonly method: string
    readonly url: string
    readonly data?: unknown
  }

  interface AcmeResponse {
    readonly status: number
    readonly data: unknown
    readonly headers: Readonly<Record<string, string>>
  }

  interface AcmeOrderView {
    readonly url: string
    readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
    readonly authorizations: readonly string[]
    readonly finalize: string
    readonly certificate?: string
    readonly error?: object
  }

  interface AcmeAuthorizationView {
    readonly status: string
    readonly challenges?: readonly {
      readonly type: string
      readonly url: string
      readonly token?: string
      readonly error?: object
    }[]
  }

  interface AcmeClient {
    getTermsOfServiceUrl(): Promise<string | null>
    createAccount(account: object): Promise<unknown>
    updateAccount(account: object): Promise<unknown>
    getAccountUrl(): string
    createOrder(order: object): Promise<AcmeOrderView>
    getOrder(order: { url: string }): Promise<AcmeOrderView>
    getAuthorizations(order: { authorizations: readonly string[] }): Promise<readonly AcmeAuthorizationView[]>
    getChallengeKeyAuthorization(challenge: { token: string; type: string }): Promise<string>
    completeChallenge(challenge: { url: string }): Promise<unknown>
    finalizeOrder(order: { url: string; finalize: string }, csr: Buffer): Promise<unknown>
    getCertificate(order: { status: 'valid'; certificate: string }): Promise<string>
  }

  const Client: new (options: {
    directoryUrl: string
    accountKey: string
    accountUrl?: string
    externalAccountBinding?: { kid: string; hmacKey: string }
  }) => AcmeClient
  const crypto: {
    createCsr(request: { altNames: string[] }, key: string): Promise<[unknown, Buffer]>
    createAlpnCertificate(
      authorization: { identifier: { value: string } },
      keyAuthorization: string,
      key: string,
    ): Promise<[unknown, Buffer]>
  }
  const axios: {
    readonly defaults: {
      adapter: (request: AcmeRequest) => Promise<AcmeResponse>
      readonly acmeSettings: { retryMaxAttempts: number }
    }
  }
}
