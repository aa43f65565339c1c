import type { JSX } from 'preact';

/** The steps of a guide, with the current one. */
export const Steps = ({
  steps,
  current,
}: {
  readonly steps: readonly string[];
  readonly current: number;
}): JSX.Element => (
  <ol class="steps">
    {steps.map((step, index) => (
      <li key={step} class={index < current ? 'done' : undefined} aria-current={index === current ? 'step' : undefined}>
        {step}
      </li>
    ))}
  </ol>
);
