// The endpoint of AI gateways for pages: its address, a provider to try, and a way to send a call there as
// any client would.

export interface GatewayEndpoint {
  /** As clients write it, without a trailing slash. */
  readonly origin: string
  /** A provider for test calls: one that has a key, if there is any. */
  readonly provider: ExampleProvider
  readonly aliases: readonly ModelAlias[]
  /** Sends a call, and waits for the whole response; rejects with a sentence if none came. */
  readonly send: (call: TestCall) => Promise<TestResponse>
}

/** A name of the configuration for models, in the order in which they are tried. */
export interface ModelAlias {
  readonly name: string
  readonly models: readonly string[]
}

export interface ExampleProvider {
  readonly name: string
  readonly model: string
  /** The path of a chat in its own API, below its name. */
  readonly path: string
  readonly speaks: 'openai' | 'anthropic'
  /** Whether callers need no key of their own. */
  readonly hasKey: boolean
}

export interface TestCall {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface TestResponse {
  readonly status: number
  readonly type: string
  readonly ray: string | null
  /** Its beginning, of up to 64 KiB. */
  readonly body: string
  /** Ms from the first byte sent to the last byte received. */
  readonly duration: number
}
