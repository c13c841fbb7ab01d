// Where clients call AI gateways, as pages know it: its address, a provider to try, and a way to send one call there as any client would.

export interface GatewayEndpoint {
  /** As clients write it, without a slash at the end. */
  readonly origin: string
  /** A provider that calls can be tried with: one that has a key, if there is any. */
  readonly provider: ExampleProvider
  /** Sends a call, and waits for all of its response; rejects with a sentence where none came. */
  readonly send: (call: TestCall) => Promise<TestResponse>
}

export interface ExampleProvider {
  /** As paths and models name it. */
  readonly name: string
  readonly model: string
  /** The path of a chat in its own API, below its name. */
  readonly path: string
  readonly speaks: 'openai' | 'anthropic'
  /** Whether calls need no key of their caller. */
  readonly hasKey: boolean
}

export interface TestCall {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string
}

export interface TestResponse {
  readonly status: number
  readonly type: string
  readonly ray: string | null
  /** Its beginning, of up to 64 KiB. */
  readonly body: string
  /** Ms from the first byte sent to the last one that came. */
  readonly duration: number
}
