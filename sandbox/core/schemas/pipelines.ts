import { z } from 'zod/v4';
import { type FieldError, Problem, validationFailed } from '../foundation/problem.ts';
import { about, currency, requiredText, optional, text } from './fields.ts';
import { systemFields } from './record.ts';
import { defineResource, type RuleContext } from './resource.ts';

export const stageKinds = ['open', 'won', 'lost'] as const;

const stage = z.strictObject({
	id: text(about('Assigned by the service. Include it to keep the stage; omit it for a new one.'), 64),
	name: requiredText(100).meta(about('Name of the stage.', 'Proposal')),
	position: optional(z.int().min(0), about('Position of the stage, ascending; its index in the list if absent.', 0)),
	kind: z.enum(stageKinds).meta(about('Status of deals in this stage.', 'open')),
	probability: optional(z.number().min(0).max(100), about('Probability in percent that deals in this stage are won.', 40)),
	rotting_days: optional(z.int().min(1), about('Days without a stage change before a deal counts as stale.', 14)),
});

export type Stage = z.output<typeof stage>;

/** @throws Problem validation_failed for an id that no stage of this pipeline has */
function refuseForeignStages(stages: Stage[], previous: Stage[]): void {
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
function refuseLossOfStages(stages: Stage[], previous: Stage[], findBy: RuleContext['findBy']): void {
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

const newStage = (name: string, position: number, kind: Stage['kind'], probability: number): Stage => ({
	id: null,
	name,
	position,
	kind,
	probability,
	rotting_days: null,
});

export const pipelines = defineResource({
	name: 'pipelines',
	object: 'pipeline',
	idPrefix: 'pip',
	description: 'The stages that deals go through.',
	visibility: 'everyone',
	isAdministrative: true,
	fields: {
		name: requiredText(100).meta(about('Name of the pipeline; unique.', 'Partner Sales')),
		position: z.int().min(0).default(0).meta(about('Position of the pipeline, ascending.', 2)),
		is_default: z.boolean().default(false).meta(
			about('Whether new deals go into this pipeline. Setting it replaces the previous default.', false, { title: 'Default' }),
		),
		currency: currency(about('Three-letter currency code of its deals.', 'EUR')),
		stages: z.array(stage).min(1).max(50).meta(
			about(
				'At least one of each kind. A change replaces the whole list.',
				[newStage('Proposal', 0, 'open', 40), newStage('Won', 1, 'won', 100), newStage('Lost', 2, 'lost', 0)],
			),
		),
		...systemFields('pipeline'),
	},
	important: ['name', 'is_default', 'currency', 'stages'],
	unique: { name: ['name'] },
	sortable: ['name', 'position'],
	searched: ['name'],
	lookups: ['is_default'],

	complete(pipeline, previous, { newId, findBy }) {
		refuseForeignStages(pipeline.stages, previous?.stages ?? []);
		return {
			is_default: pipeline.is_default || findBy('pipelines', 'is_default', true).length === 0,
			stages: pipeline.stages.map((stage, i) => ({ ...stage, id: stage.id ?? newId('stg'), position: stage.position ?? i }))
				.sort((a, b) => a.position - b.position),
		};
	},

	check(pipeline, previous, { findBy }) {
		refuseLossOfStages(pipeline.stages, previous?.stages ?? [], findBy);
		const errors: FieldError[] = [];
		const refuse = (pointer: string, detail: string) => errors.push({ pointer, code: 'invalid_value', detail });
		for (const kind of stageKinds) {
			if (pipeline.stages.some((stage) => stage.kind === kind)) continue;
			refuse('/stages', `A pipeline needs at least one stage of the kind ${kind}.`);
		}
		const ids = pipeline.stages.map(({ id }) => id);
		if (new Set(ids).size < ids.length) refuse('/stages', 'A stage is listed twice.');
		const others = findBy('pipelines', 'is_default', true).filter(({ id }) => id !== previous?.id);
		if (previous?.is_default && !pipeline.is_default && others.length === 0) {
			refuse('/is_default', 'Make another pipeline the default instead.');
		}
		return errors;
	},

	consequences(pipeline, previous, { findBy }) {
		if (!pipeline.is_default || previous?.is_default) return [];
		return findBy('pipelines', 'is_default', true).filter(({ id }) => id !== pipeline.id)
			.map(({ id }) => ({ resource: 'pipelines', id, change: { is_default: false } }));
	},

	usedBy(pipeline, { findBy }) {
		if (pipeline.is_default) return 'new deals go there; make another pipeline the default first';
		return findBy('deals', 'pipeline_id', pipeline.id, 1).length > 0 ? 'deals are in it' : undefined;
	},
});
