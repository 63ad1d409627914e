// Numbers as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const integer = (value) => whole.format(value);

/** With so many significant digits, thousands grouped; never rounds a large whole number away. */
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "–";
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(Math.max(0, digits - 2));
  if (Math.abs(value) >= 10 ** digits) return whole.format(value);
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

/** Nats or epsilon, which are limits: rounded up. */
export function nats(value, digits = 6) {
  if (!(value > 0 && Number.isFinite(value))) return number(value, digits);
  const kept = value < 0.001 ? digits - 1 : digits; // as `number` shows it
  const near = Number(value.toPrecision(kept));
  const last = 10 ** (Math.floor(Math.log10(near)) + 1 - kept);
  return number(near < value ? Number((near + last).toPrecision(kept)) : near, digits);
}

/** A share as a percentage: one decimal below 10 %, and never 0 or 100 for what is only near. */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  if (share > 0 && share < 0.001) return "< 0.1 %";
  if (share > 0.999 && share < 1) return "> 99.9 %";
  const digits = share < 0.1 && share > 0 || share > 0.99 && share < 1 ? 1 : 0;
  return `${(100 * share).toFixed(digits)} %`;
}

const limit = (share, whole) => {
  if (share === null || share === undefined) return "–";
  const digits = share < 0.1 ? 1 : 0;
  return `${(whole(100 * share * 10 ** digits) / 10 ** digits).toFixed(digits)} %`;
};

/** An upper limit of a share, rounded up. */
export const atMost = (share) => limit(share, (value) => Math.ceil(value - 1e-9));

/** A lower limit of a share, rounded down. */
export const atLeast = (share) => limit(share, (value) => Math.floor(value + 1e-9));

/** Epsilon as it is chosen: three significant digits. */
export const rounded = (value) => Number(value.toPrecision(3));

/** A distance between words: two decimals, so that columns line up. */
export const distance = (value) => (value === 0 || value >= 0.01 ? value.toFixed(2) : number(value, 2));

export const plural = (count, one, many) => `${integer(count)} ${count === 1 ? one : many}`;
