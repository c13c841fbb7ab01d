// JSON of which some may be none.

/** What is no JSON stays a text. */
export function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
