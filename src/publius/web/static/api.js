// Asking the service on this machine: the token, typed errors, and answers that were overtaken.

const KEPT = "publius-token";
let token = null;

/** Take the token from the address once, and out of the address bar and the history. */
export function adoptToken() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found) {
    sessionStorage.setItem(KEPT, found);
    history.replaceState(null, "", location.pathname);
  }
  token = sessionStorage.getItem(KEPT);
  return token !== null;
}

/** What the service refused, in its own words. */
export class ServiceError extends Error {
  constructor(message, type, code, status) {
    super(message);
    this.type = type;
    this.code = code;
    this.status = status;
  }
}

/** A request that can be followed and stopped while it is answered: also before it is sent. */
export class Watch {
  #id = crypto.randomUUID();
  cancelled = false;

  get headers() {
    return { "Publius-Watch": this.#id };
  }

  /** How far it is, in the service's words. Who cancelled goes on to say so: the request may have come later. */
  async look() {
    const path = `/v1/progress/${this.#id}`;
    const response = await (this.cancelled ? send(`${path}/cancel`, {}) : send(path));
    return response.json();
  }

  cancel() {
    this.cancelled = true;
    return this.look();
  }

  check() {
    if (this.cancelled) throw new ServiceError("cancelled before it began", STOPPED, 2, 0);
  }
}

export const STOPPED = "CancelledError";
const MOST = 4; // of the six connections that a browser opens; the others ask how far these are
let open = 0;
const queue = [];

async function inTurn(work) {
  if (open < MOST) open += 1;
  else await new Promise((begin) => queue.push(begin));
  try {
    return await work();
  } finally {
    if (queue.length) queue.shift()();
    else open -= 1;
  }
}

/** The answer to a request: GET without a body, POST with one; a file is sent as it is. Raises `ServiceError`, or AbortError when overtaken. */
export function call(path, body, signal, watch = new Watch()) {
  return Object.assign(inTurn(() => answer(path, body, signal, watch)), { watch });
}

async function answer(path, body, signal, watch) {
  watch.check();
  const response = await send(path, body, signal, watch.headers);
  const found = await response.json().catch(() => null);
  if (signal?.aborted) throw new DOMException("overtaken", "AbortError");
  if (response.ok && found !== null) return found;
  const error = found?.error ?? {};
  throw new ServiceError(error.message ?? `The service answered ${response.status}.`, error.type ?? "", error.code ?? null, response.status);
}

async function send(path, body, signal, more = {}) {
  const headers = { Authorization: `Bearer ${token}`, ...more };
  const request = { method: "GET", headers, signal, cache: "no-store", credentials: "omit", redirect: "error" };
  if (body instanceof Blob) {
    headers["Content-Type"] = "application/octet-stream";
    Object.assign(request, { method: "POST", body });
  } else if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(request, { method: "POST", body: JSON.stringify(body) });
  }
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError("The service does not answer. Is publius explore still running?", "", null, 0);
  }
}

/**
 * Questions of one kind, of which only the newest matters.
 *
 * One is under way at a time, so a slider that is dragged never piles up work. A question of another `key` (another
 * text, say) aborts the one under way and its answer is dropped; one of the same key waits for it, so that a drag is
 * followed on screen, and those it overtakes are never asked. A dropped question resolves to undefined.
 */
export class Channel {
  #running = null;
  #waiting = null;

  constructor(path) {
    this.path = path;
  }

  ask(body, key = "") {
    this.#waiting?.resolve(undefined);
    const watch = new Watch();
    const asked = new Promise((resolve, reject) => {
      this.#waiting = { body, key, watch, resolve, reject };
      if (this.#running === null) this.#start();
      else if (this.#running.key !== key) this.#running.controller.abort();
    });
    return Object.assign(asked, { watch });
  }

  /** Forget what is under way and what waits. */
  drop() {
    this.#waiting?.resolve(undefined);
    this.#waiting = null;
    this.#running?.controller.abort();
  }

  /** Stop what is under way and what waits. */
  cancel() {
    for (const asked of [this.#waiting, this.#running]) asked?.watch.cancel().catch(() => {});
  }

  async #start() {
    const { body, key, watch, resolve, reject } = this.#waiting;
    const controller = new AbortController();
    this.#waiting = null;
    this.#running = { key, watch, controller };
    try {
      resolve(await call(this.path, body, controller.signal, watch));
    } catch (error) {
      if (controller.signal.aborted) resolve(undefined);
      else reject(error);
    } finally {
      this.#running = null;
      if (this.#waiting !== null) this.#start();
    }
  }
}
