// People who load page after page, in a thread of their own: what reading pages costs must not delay who measures other requests.
import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

export interface Visit {
  readonly origin: string
  readonly pages: readonly string[]
  readonly cookie: string
  readonly people: number
  /** Ms from one page of a person to the next. */
  readonly pause: number
}

const { origin, pages, cookie, people, pause } = workerData as Visit
const shown: number[] = []
let isOver = false
parentPort!.once('message', () => {
  isOver = true
})

async function browse(person: number): Promise<void> {
  await wait((person * pause) / people)
  for (let i = person; !isOver; i++) {
    const time = await load(origin + pages[i % pages.length]!)
    shown.push(time)
    await wait(Math.max(0, pause - time))
  }
}

/** Loads a page; resolves with the ms that it took. */
function load(url: string): Promise<number> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { cookie } }, response => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`))
      response.resume().on('end', () => resolve(performance.now() - began))
    })
    sent.on('error', reject).end()
  })
}

await Promise.all(Array.from({ length: people }, (_, person) => browse(person)))
parentPort!.postMessage(shown)
