// The model that a request which nobody parsed asked for. Called by entry.ts.

const LONGEST = 256
const SEARCHED = 64 * 1024

/** Finds the model in the path (Google, Azure), else in the beginning of a JSON body; null where neither names one. */
export function requestedModel(path: string, body: string): string | null {
  return modelOfPath(path) ?? modelOfBody(body)
}

function modelOfPath(path: string): string | null {
  const [, model] = /\/(?:models|deployments)\/([\w.@~-]{1,256})[:/]/.exec(path) ?? []
  return model ?? null
}

/** Takes the first member of that name: in the requests of all providers it stands at the top, and no other one has a string for it. */
function modelOfBody(body: string): string | null {
  const at = body.indexOf('"model"')
  if (at === -1 || at > SEARCHED) return null
  MODEL.lastIndex = at
  const text = MODEL.exec(body)?.[1]
  return text === undefined ? null : readString(text)
}

const MODEL = new RegExp(`"model"\\s*:\\s*("(?:[^"\\\\]|\\\\.){1,${LONGEST}}")`, 'y')

function readString(json: string): string | null {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
