// A Realtime session under spend limits: before an event of the client is passed on, the response for which
// it asks is reserved, and one more that the provider may begin by itself as it hears the end of speech.

import type { SessionFollower } from '../../ai/usage/session.ts'
import type { Usage } from '../../ai/usage/usage.ts'
import { SessionWorstCase } from '../../ai/worst-case/session.ts'
import type { CallBudget, SessionSpending } from '../../budgets/call-budget.ts'
import type { BudgetRefusal } from '../../budgets/charge.ts'
import { nanodollarsOf } from '../../base/units.ts'
import { type ClientMessage, ClientMessages } from '../../http1/websocket/client-messages.ts'
import { deliverBug } from '../exchange/deliver.ts'
import type { Exchange } from '../exchange/exchange.ts'

interface SessionSides {
  /** Passes bytes on to the provider. */
  pass(bytes: Buffer): void
  /** Ends the session; the code is one of RFC 6455 section 7.4.1. */
  endSession(code: number, reason: string): void
}

export class SessionBudget implements SessionFollower {
  readonly #x: Exchange
  readonly #budget: CallBudget
  readonly #model: string
  readonly #sides: SessionSides
  readonly #worst = new SessionWorstCase()
  readonly #messages: ClientMessages
  #queue: ClientMessage[] = []
  /** What waits for its reservation, and whether it asks for a response. */
  #held: ClientMessage | null = null
  #holdsRequest = false
  #isWaiting = false
  #isOver = false
  /** Responses that the client has asked for, and that the provider has begun, without their ends. */
  #requests = 0
  #begun = 0
  #spent: SessionSpending = { cost: 0, tokens: 0 }

  constructor(x: Exchange, budget: CallBudget, model: string, sides: SessionSides) {
    this.#x = x
    this.#budget = budget
    this.#model = model
    this.#sides = sides
    this.#messages = new ClientMessages(message => this.#queue.push(message))
    this.#note()
  }

  body(bytes: Buffer): void {
    this.#messages.push(bytes)
    this.#passOn()
  }

  /** Nothing is passed on any more; returns what came of the client and was not. */
  end(): Buffer {
    if (this.#holdsRequest) this.#requests--
    if (this.#held !== null && this.#held.text !== null) this.#worst.takeBack()
    const waiting = [...(this.#held === null ? [] : [this.#held]), ...this.#queue]
    this.#held = null
    this.#holdsRequest = false
    this.#queue = []
    this.#isOver = true
    this.#note()
    return Buffer.concat([...waiting.map(({ bytes }) => bytes), this.#messages.takeRest()])
  }

  settingsSaid(settings: object): void {
    this.#worst.takeSettings(settings)
    this.#reserve()
  }

  responseBegan(): void {
    this.#begun++
    this.#reserve()
  }

  responseEnded(usage: Usage | null, hasFailed: boolean): void {
    this.#begun = Math.max(0, this.#begun - 1)
    this.#requests = Math.max(0, this.#requests - 1)
    if (usage !== null) this.#add(usage)
    else if (!hasFailed) this.#addWhole()
    this.#reserve()
  }

  #passOn(): void {
    while (!this.#isWaiting && !this.#isOver) {
      this.#passHeld()
      const message = this.#queue.shift()
      if (message === undefined) break
      this.#held = message
      this.#holdsRequest = message.text !== null && this.#worst.take(message.text)
      if (this.#holdsRequest) this.#requests++
      this.#reserve()
    }
    if (this.#messages.isLost && !this.#isWaiting && !this.#isOver)
      this.#sides.endSession(unreadable, 'spend limits require messages that can be read')
  }

  #passHeld(): void {
    if (this.#held === null) return
    const { bytes } = this.#held
    this.#held = null
    this.#holdsRequest = false
    this.#sides.pass(bytes)
  }

  /** Reserves the responses that are open, and one more. */
  #reserve(): void {
    this.#note()
    if (this.#isOver || this.#isWaiting) return
    const verdict = this.#budget.extend(this.#with(this.#open + 1))
    if (!(verdict instanceof Promise)) return this.#conclude(verdict)
    this.#isWaiting = true
    this.#x.client.pauseBody()
    verdict.then(
      verdict => this.#resume(verdict),
      bug => deliverBug(this.#x, bug),
    )
  }

  #resume(verdict: BudgetRefusal | null): void {
    this.#isWaiting = false
    if (this.#isOver) return
    this.#conclude(verdict)
    if (this.#isOver) return
    this.#passHeld()
    // A response may have ended meanwhile.
    this.#reserve()
    if (this.#isWaiting || this.#isOver) return
    this.#x.client.readBody()
    this.#passOn()
  }

  #conclude(verdict: BudgetRefusal | null): void {
    if (verdict !== null) this.#sides.endSession(policyViolation, reasonOf(verdict))
  }

  /** Responses that are open are charged all that they may take, if the session ends before them. */
  #note(): void {
    this.#budget.noteSession(this.#with(this.#open))
  }

  get #open(): number {
    return Math.max(this.#requests, this.#begun)
  }

  /** What is spent, with so many responses that may take all that one can. */
  #with(responses: number): SessionSpending {
    const { ahead } = this.#worst
    const { cost, tokens } = this.#spent
    return {
      cost: cost + responses * (this.#costAhead() ?? 0),
      tokens: tokens + responses * (ahead.tokensIn + ahead.tokensOut),
    }
  }

  /** Null for a model without a price. */
  #costAhead(): number | null {
    return this.#x.plane.ai!.prices.worstCost(this.#x.ai!.provider!.name, this.#model, this.#worst.ahead)
  }

  /** What its provider does not say, may be all that was reserved. */
  #addWhole(): void {
    this.#spent = this.#with(1)
    this.#worst.responded(this.#worst.ahead.tokensOut)
  }

  #add(usage: Usage): void {
    const { cost, tokens } = this.#spent
    const dollars = this.#x.plane.ai!.prices.costOf(this.#x.ai!.provider!.name, this.#model, usage)
    const one = dollars === null ? (this.#costAhead() ?? 0) : nanodollarsOf(dollars)
    const { tokensIn, tokensOut } = usage
    this.#worst.responded(tokensOut ?? 0)
    this.#spent = { cost: cost + one, tokens: tokens + (tokensIn ?? 0) + (tokensOut ?? 0) }
  }
}

/** RFC 6455 section 7.4.1. */
const policyViolation = 1008
const unreadable = 1003

function reasonOf({ reason }: BudgetRefusal): string {
  return reason === 'store_unreachable'
    ? 'spend limits cannot be counted now'
    : 'spend limit reached: the next response does not fit'
}
