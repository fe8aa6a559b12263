-- Whether the filter of the subscription s wants the event o. A star of the filter is a star of "glob"; what else means something to
-- "glob" is put in brackets.
(coalesce(json_array_length(s.filter, '$.types'), 0) = 0 or exists (
      select 1
      from json_each(s.filter, '$.types') f
      where o.event_type glob replace(replace(f.value, '[', '[[]'), '?', '[?]')))
    and (coalesce(json_array_length(s.filter, '$.topics'), 0) = 0 or exists (
      select 1
      from json_each(s.filter, '$.topics') f
      where o.topic glob replace(replace(f.value, '[', '[[]'), '?', '[?]')))
