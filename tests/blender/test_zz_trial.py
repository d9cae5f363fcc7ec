from dataclasses import replace
import bpy, numpy as np, pytest
from mathutils import Euler, Matrix
from typing import Any
from takt.bridge.axes import BLENDER_FROM_HANIM
from takt.core.maths import rotations as rot
from takt.tests.core.made_people import A_POSE, T_POSE, RELAXED, OUTWARD, FORWARD, Build, Person, person, below
from takt.tests.core.odd_people import odd_person, with_part, pipe, sheet, wings, horns, tail
from takt.tests.blender.test_fit_skeleton import add_body, fit, head_of
from takt.core.fitting import fit_skeleton
MAIN = ("HumanoidRoot","vc7","skullbase",*(f"{s}_{j}" for s in "lr" for j in ("shoulder","elbow","wrist","hip","knee","ankle")))
R = np.random.default_rng(3)
def box(c, s):
    p = np.array([[x,y,z] for x in (-1,1) for y in (-1,1) for z in (-1,1)])*np.array(s)+np.array(c)
    q = np.array([[0,1,3,2],[4,6,7,5],[0,4,5,1],[2,3,7,6],[0,2,6,4],[1,5,7,3]])
    return p, q
def dress(of, low):
    a=np.linspace(0,2*np.pi,33)[:-1]; hs=np.linspace(1.15,low,20); pts=[]; 
    for k,h in enumerate(hs):
        r=.16+.22*k/19; pts.append(np.stack([r*np.cos(a),np.full(32,h),r*.8*np.sin(a)],1))
    p=np.concatenate(pts); q=[[k*32+i,k*32+(i+1)%32,(k+1)*32+(i+1)%32,(k+1)*32+i] for k in range(19) for i in range(32)]
    return with_part(of,(p,np.array(q)),grown=False)
def cases():
    d=person(Build(A_POSE)); t=person(Build(T_POSE))
    yield 'sitting', person(Build({"shoulder":(OUTWARD,30.),"elbow":(FORWARD,40.),"hip":((-1.,0,.15),85.),"knee":((1.,0,0),85.)})), {}
    yield 'one arm raised', person(Build({"shoulder":(OUTWARD,165.)}, {"shoulder":(OUTWARD,10.)})), {}
    yield 'arms crossed', person(Build({"shoulder":((-1.,0,.1),55.),"elbow":((-.3,-1.,0),95.)},{"shoulder":((-1.,0,.1),40.),"elbow":((-.3,1.,0),95.)})), {}
    yield 'arms ahead', person(Build({"shoulder":(FORWARD,85.)})), {}
    yield 'big head', person(Build(A_POSE,{}, {"skullbase":2.5},{"skullbase":2.5})), {}
    yield 'long dress', dress(t,.12), {}
    yield 'short dress', dress(d,.55), {}
    yield 'backpack', with_part(d, box((0,1.3,-.25),(.17,.25,.12)), grown=False), {}
    w=d
    for p in wings(d,R): w=with_part(w,p,grown=True)
    yield 'wings', w, {}
    h=d
    for p in horns(d,R): h=with_part(h,p,grown=True)
    yield 'horns', h, {}
    mid=d.vertices[d.quads].mean(1)
    yield 'open neck and soles', replace(d,quads=d.quads[(mid[:,1]>.03)&~((mid[:,1]>1.43)&(mid[:,1]<1.47)&(abs(mid[:,0])<.1))]), {}
    yield 'doubled skin', d, {'solidify':True}
    yield 'nonuniform scale', d, {'matrix':Matrix.LocRotScale((1,2,3),Euler((.3,.2,1)),(2,.5,1.3))}
    yield 'parented', d, {'parent':True}
    yield 'negative scale', d, {'matrix':Matrix.LocRotScale((0,0,0),Euler((0,0,0)),(-1,1,1))}
    yield 'mirror', replace(d,quads=d.quads[mid[:,0]>0]), {'mirror':True}
    yield 'subsurf', d, {'subsurf':True}
    yield 'shape keys', d, {'keys':True}
    b=replace(d,vertices=d.vertices+[1.6,0,0])
    yield 'two in one', with_part(d,(b.vertices,b.quads),grown=False), {}
    keep=R.random(len(d.quads))>.1
    yield 'scan', replace(d,vertices=d.vertices+R.normal(size=d.vertices.shape)*.004,quads=d.quads[keep]), {}
    yield 'lying on the side', d, {'matrix':Matrix.Rotation(np.pi/2,4,'Y'),'moved':True}
    yield 'on belly', d, {'matrix':Matrix.Rotation(np.pi/2,4,'X'),'moved':True}
    yield 'tiny', d, {'matrix':Matrix.Scale(.01,4),'moved':True}
    yield 'huge', d, {'matrix':Matrix.Scale(1000,4),'moved':True}
@pytest.mark.parametrize('k', range(24))
def test_case(k, capsys):
    name, of, o = list(cases())[k]
    m = o.get('matrix', Matrix())
    if o.get('moved'):
        body=add_body(of); body.matrix_world=m
        A=np.array(m)
    else:
        body=add_body(of,'Body',m); A=np.eye(4)
    if o.get('parent'):
        e=bpy.data.objects.new('E',None); bpy.context.collection.objects.link(e); e.matrix_world=Matrix.LocRotScale((3,1,2),Euler((1,0,2)),(3,3,3)); bpy.context.view_layer.update()
        body.parent=e; bpy.context.view_layer.update(); A=np.array(body.matrix_world)
    if o.get('solidify'): body.modifiers.new('S','SOLIDIFY').thickness=.005
    if o.get('mirror'): body.modifiers.new('M','MIRROR')
    if o.get('subsurf'):
        s=body.modifiers.new('S','SUBSURF'); s.levels=1
    if o.get('keys'):
        body.shape_key_add(name='Basis'); kb=body.shape_key_add(name='Fat'); 
        for p in kb.data: p.co*=1.2
        kb.value=1.0
    bpy.context.view_layer.update()
    before=np.array(body.matrix_world)
    H=of.height*np.cbrt(abs(np.linalg.det(A[:3,:3])))
    with capsys.disabled():
        try: fit(body)
        except RuntimeError as x: print(f'{name:20s} REFUSED {str(x)[:200]}'); return
        rig=bpy.context.active_object
        names={b.name for b in rig.data.bones}
        es={j:np.linalg.norm(head_of(rig,j)-(A[:3,:3]@rot.rotate(BLENDER_FROM_HANIM,of.joints[j])+A[:3,3]))/H*100 for j in MAIN if j in names}
        ws=[sum(g.weight for g in v.groups) for v in body.data.vertices]
        dep={b.name for b in rig.data.bones if not b.use_deform}
        lens=sorted(b.length for b in rig.data.bones)[0]/H
        print(f'{name:20s} bones {len(names)} mean {np.mean(list(es.values())):.1f} worst', sorted(((round(float(v),1),k2) for k2,v in es.items()),reverse=True)[:3], 'missing',len(MAIN)-len(es),'unweighted',sum(abs(w-1)>.01 for w in ws),'carriers',dep or '', 'moved %.1e'%np.abs(np.array(body.matrix_world)-before).max(), 'scale',tuple(round(s,3) for s in rig.scale), 'mods',[mm.type for mm in body.modifiers], 'shortest %.4f'%lens)
