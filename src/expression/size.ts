// How large the values of an expression can be.

/** How large a value can be: characters of a text, members of a list or names of a map, and what one of these holds. */
export interface Size {
  readonly length: number
  readonly item: Size | null
  /** What a member can be where the others are next to nothing, such as a part of a text that was split; null where all can be as large. */
  readonly one: Size | null
  /** What the headers hold under a name that a loop goes through; null for all else. */
  readonly held: Size | null
}

export const scalar: Size = { length: 1, item: null, one: null, held: null }

/** Returns the size of a text of so many characters. */
export function textOf(length: number): Size {
  return { length, item: null, one: null, held: null }
}

/** Returns the size of a list, of a map too, whose members can all be so large, and one of them larger. */
export function listOf(length: number, item: Size, one: Size | null = null): Size {
  return { length, item, one, held: null }
}

/** Returns the size of the name of a header that holds so much. */
export function nameOf(held: Size | null): Size {
  return { ...textOf(64), held }
}

/** Returns the size that a single member can have. */
export function memberOf(list: Size): Size {
  return list.one ?? list.item ?? scalar
}

/** Returns a size that none of these exceeds. */
export function larger(sizes: readonly Size[]): Size {
  return sizes.reduce(
    (a, b) => ({
      length: Math.max(a.length, b.length),
      item: largerPart(a.item, b.item),
      one: largerPart(a.one, b.one),
      held: null,
    }),
    scalar,
  )
}

/** Returns how much there is to look at. */
export function weigh(size: Size): number {
  return size.item === null ? size.length : size.length * (16 + weigh(size.item))
}

function largerPart(a: Size | null, b: Size | null): Size | null {
  return a === null || b === null ? (a ?? b) : larger([a, b])
}
