// New JSON from old JSON: values are dropped, copied, moved to other places and replaced by those of other inputs.

type Random = () => number
type Container = Record<string, unknown> | unknown[]

/** A member or an element. */
interface Slot {
  readonly of: Container
  readonly key: string | number
}

/** Returns null if one of the texts is no JSON. */
export function mutateJson(text: string, other: string, random: Random): string | null {
  const value = parse(text)
  const source = parse(other)
  if (value === undefined || source === undefined) return null
  const whole = [value]
  for (let count = 1 + (random() % 3); count > 0; count--) change(whole, [source], random)
  return whole.length === 0 ? null : JSON.stringify(whole[0])
}

/** Mutates the data of one event of a stream, and now and then the order of events. */
export function mutateEvents(text: string, other: string, random: Random): string | null {
  const events = text.split('\n\n')
  const others = other.split('\n\n')
  const at = random() % events.length
  if (random() % 4 === 0) {
    events.splice(at, random() % 2, others[random() % others.length]!)
    return events.join('\n\n')
  }
  const event = events[at]!
  const data = event.indexOf('data: ') + 6
  const one = others[random() % others.length]!
  const mutated =
    data < 6 ? null : mutateJson(event.slice(data), one.slice(one.indexOf('data: ') + 6), random)
  if (mutated === null) return null
  events[at] = event.slice(0, data) + mutated
  return events.join('\n\n')
}

function change(whole: Container, source: Container, random: Random): void {
  const slots = slotsOf(whole)
  if (slots.length === 0) return
  const { of, key } = slots[random() % slots.length]!
  const others = random() % 2 === 0 ? slots : slotsOf(source)
  const from = others[random() % others.length]!
  const taken = structuredClone(valueAt(from))
  const kind = random() % 5
  if (kind === 0) drop(of, key)
  else if (kind === 1) put(of, key, structuredClone(odd[random() % odd.length]))
  else if (kind === 2 && Array.isArray(of)) of.splice(random() % (of.length + 1), 0, taken)
  else if (kind === 2 && typeof from.key === 'string') put(of, from.key, taken)
  else put(of, key, taken)
}

const odd: readonly unknown[] = [
  null,
  '',
  'a',
  [],
  {},
  0,
  -1,
  1.5,
  1e300,
  true,
  false,
  [null],
  { a: null },
  '\ud800',
  '{"a":',
  ' ',
]

function slotsOf(of: Container): Slot[] {
  return Object.keys(of).flatMap(name => {
    const slot = { of, key: Array.isArray(of) ? Number(name) : name }
    const value = valueAt(slot)
    return typeof value === 'object' && value !== null ? [slot, ...slotsOf(value as Container)] : [slot]
  })
}

function valueAt({ of, key }: Slot): unknown {
  return (of as Record<string | number, unknown>)[key]
}

function put(of: Container, key: string | number, value: unknown): void {
  Object.defineProperty(of, key, { value, writable: true, enumerable: true, configurable: true })
}

function drop(of: Container, key: string | number): void {
  if (Array.isArray(of)) of.splice(Number(key), 1)
  else delete of[key]
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
