// Collects the results of a search through the names of an account's OAuth clients, in the order of the list:
// the total, and the clients on the requested page.

import type { ClientSearch, OAuthClient } from '../records/oauth-client.ts'
import type { Page, Position } from './store.ts'

export interface NamedClient extends Position {
  readonly name: string
}

/** Whether a search matches a client. */
export function isFound({ name, visibility }: OAuthClient, search: ClientSearch): boolean {
  return hasText(name, search.name.toLowerCase()) && (search.visibility ?? visibility) === visibility
}

function hasText(name: string, text: string): boolean {
  return name.toLowerCase().includes(text)
}

export class ClientMatches {
  readonly text: string
  readonly #page: Page
  readonly #ids: string[] = []
  #total = 0
  #passed = 0

  constructor({ name }: ClientSearch, page: Page) {
    this.text = name.toLowerCase()
    this.#page = page
  }

  get total(): number {
    return this.#total
  }

  get ids(): readonly string[] {
    return this.#ids
  }

  /** Whether the page is full, so that further matches need only be counted. */
  get isFull(): boolean {
    return this.#ids.length >= this.#page.limit
  }

  count(more: number): void {
    this.#total += more
  }

  add(clients: readonly NamedClient[]): void {
    const { offset, after = null } = this.#page
    for (const client of clients) {
      if (!hasText(client.name, this.text)) continue
      this.#total++
      if (this.isFull || (after !== null && !isBehind(client, after))) continue
      if (this.#passed++ >= offset) this.#ids.push(client.id)
    }
  }
}

function isBehind(one: Position, other: Position): boolean {
  return one.at > other.at || (one.at === other.at && one.id > other.id)
}
