// What counts as JSON by its Content-Type: application/json and whatever ends in +json (RFC 6839 section 3.1). Asked of calls and of answers.

export const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;|$)/i
