import { z } from 'zod/v4';
import { about } from './fields.ts';
import type { FieldError } from '../foundation/problem.ts';
import { exampleId } from './request-examples.ts';
import type { RuleContext } from './resource.ts';

/** The resources whose records can be linked. */
const linkable = ['contacts', 'companies', 'deals', 'tickets'] as const;

const link = z.strictObject({
	resource: z.enum(linkable).meta(about('Record type.', 'contacts')),
	id: z.string().min(1).max(64).meta(about('ID of the record.', exampleId('con'))),
});

type Link = z.output<typeof link>;

/** Links of a task, note or activity to other records. */
export const links = z.array(link).max(50);

export const linksMetadata = about('Linked records.', [{ resource: 'contacts', id: exampleId('con') }], { title: 'Links' });

/** Reports new links to missing records. Links to records that were deleted later are kept. */
export const missingLinks = (links: Link[], previous: Link[] = [], { find }: RuleContext): FieldError[] =>
	links.flatMap(({ resource, id }, i) => {
		const isOld = previous.some((link) => link.resource === resource && link.id === id);
		if (isOld || find(resource, id)) return [];
		const detail = `There is no record ${id} in ${resource}.`;
		return [{ pointer: `/links/${i}/id`, code: 'reference_not_found', detail }];
	});
