// What holds for one operation: it is worked out once, and forgotten before the page can run again.

/** A function that gives what `make` made, the same one until the current task of the engine is over. */
export function perRun(make) {
  let made;
  let has = false;
  return () => {
    if (!has) {
      made = make();
      has = true;
      queueMicrotask(() => {
        has = false;
        made = undefined;
      });
    }
    return made;
  };
}
