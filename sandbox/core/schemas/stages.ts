import { z } from 'zod/v4';
import { Problem, validationFailed } from '../foundation/problem.ts';
import { about, optional, requiredText, text } from './fields.ts';
import type { RuleContext } from './resource.ts';

export const stageKinds = ['open', 'won', 'lost'] as const;

export const stage = z.strictObject({
	id: text(about('Assigned by the service. Include it to keep the stage; omit it for a new one.'), 64),
	name: requiredText(100).meta(about('Name of the stage.', 'Proposal')),
	position: optional(z.int().min(0), about('Position of the stage, ascending; its index in the list if absent.', 0)),
	kind: z.enum(stageKinds).meta(about('Status of deals in this stage.', 'open')),
	probability: optional(z.number().min(0).max(100), about('Probability in percent that deals in this stage are won.', 40)),
	rotting_days: optional(z.int().min(1), about('Days without a stage change before a deal counts as stale.', 14)),
});

export type Stage = z.output<typeof stage>;

/** @throws Problem validation_failed for an id that no stage of this pipeline has */
export function refuseForeignStages(stages: Stage[], previous: Stage[]): void {
	const previousIds = new Set(previous.map(({ id }) => id));
	const errors = stages.flatMap(({ id }, i) => {
		if (id === null || previousIds.has(id)) return [];
		const detail = 'The pipeline has no such stage. Omit the id of a new stage.';
		return [{ pointer: `/stages/${i}/id`, code: 'reference_not_found', detail }];
	});
	if (errors.length > 0) throw validationFailed(errors);
}

/**
 * Refuses to remove a stage with deals or to change its kind, which their status derives from.
 *
 * @throws Problem in_use
 */
export function refuseLossOfStages(stages: Stage[], previous: Stage[], findBy: RuleContext['findBy']): void {
	const lost = previous.filter(({ id, kind }) => !stages.some((stage) => stage.id === id && stage.kind === kind));
	const used = lost.find(({ id }) => findBy('deals', 'stage_id', id!, 1).length > 0);
	if (!used) return;
	throw new Problem(
		'in_use',
		`Deals are in the stage ${used.name}. Move them before you remove it or change its kind.`,
	);
}

/** The stages of a pipeline, in its order. */
export const stagesOf = (pipeline: Record<string, unknown> | undefined): Stage[] =>
	(pipeline?.['stages'] as Stage[] | undefined) ?? [];
