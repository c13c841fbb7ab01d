// Counters in the hands of a test: they keep what they were asked, and answer when and what they are told to.
import {
  type CounterReply,
  type CounterAsk,
  type Counters,
  StoreUnreachable,
} from '../../src/store/contract/store.ts'

export class SteeredCounters implements Counters {
  readonly asks: CounterAsk[] = []
  isUnreachable = false
  /** Whether questions fail, or are kept waiting. */
  mode: 'answer' | 'fail' | 'hold' = 'answer'
  /** Of the failures. */
  code = 'ECONNREFUSED'
  /** What other processes have counted. */
  others = 0
  readonly #counts = new Map<string, number>()
  #held: (() => void)[] = []

  async spend(ask: CounterAsk): Promise<CounterReply> {
    this.asks.push(ask)
    if (this.mode === 'fail') throw new StoreUnreachable({ code: this.code })
    if (this.mode === 'hold') await new Promise<void>(resolve => void this.#held.push(resolve))
    const before = (this.#counts.get(ask.key) ?? 0) + ask.done
    const granted = Math.max(0, Math.min(ask.wanted, ask.limit - before - this.others))
    this.#counts.set(ask.key, before + granted)
    const count = before + granted + this.others
    return { count, granted, wait: count < ask.limit ? 0 : 10_000 }
  }

  /** Answers all that was kept waiting. */
  release(): void {
    this.mode = 'answer'
    for (const resolve of this.#held) resolve()
    this.#held = []
  }
}
